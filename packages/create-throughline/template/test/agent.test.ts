import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createAgentClient, currentMessages } from "@throughline/agent-client";
import { runCli } from "@throughline/cli";

test("the agent answers", async () => {
  const server = await startServer();
  const client = createAgentClient({ url: `${server.url}/api/copilotkit` });
  try {
    const thread = client.thread("langgraph:agent", "a first thread");
    const close = thread.open();
    const outcome = await thread.send("Good morning.");
    assert.equal(outcome.kind, "done");
    const answer = currentMessages(thread.getSnapshot().view).at(-1);
    assert.equal(answer?.role, "assistant");
    assert.match(String(answer?.content), /Good morning/);
    close();
  } finally {
    client.close();
    await server.stop();
  }
});

/** The server as `npm start` runs it, on a free port and with a database of its own. */
async function startServer() {
  const data = await mkdtemp(join(tmpdir(), "my-agent-"));
  const stopping = new AbortController();
  let ended: Promise<number> | undefined;
  const url = await new Promise<string>((resolve, reject) => {
    ended = runCli(["serve", "--port", "0", "--data-dir", data, "--log-level", "error"], {
      signal: stopping.signal,
      async onServing(serving) {
        resolve(serving.url);
        return "";
      },
    });
    ended.then((code) => reject(new Error(`The server ended with ${code}.`)), reject);
  });
  return {
    url,
    async stop() {
      stopping.abort();
      await ended;
      await rm(data, { recursive: true, force: true });
    },
  };
}
