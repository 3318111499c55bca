import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { HttpAgent } from "@ag-ui/client";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { graphRegistry } from "@throughline/graph-executor";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { isType, readEvents, sseEvents } from "../../packages/langgraph-server/src/testing/sse-events.js";
import { startTestServer, type TestServer } from "../../packages/langgraph-server/src/testing/test-server.js";
import { freePort } from "../server/rig/free-port.js";
import { type InstalledExample, installExample } from "./rig/install-example.js";

/** Answers letter by letter, so that a stream can be left in the middle. */
const echo = new StateGraph(MessagesAnnotation)
  .addNode("echo", async ({ messages }) => {
    const model = new FakeListChatModel({ responses: [`You said: ${messages.at(-1)?.text}`], sleep: 20 });
    return { messages: [await model.invoke(messages)] };
  })
  .addEdge(START, "echo")
  .compile();
const schema = { type: "object", properties: { messages: {} } };
const descriptor = {
  graphId: "langgraph:echo",
  graphName: "echo",
  name: "Echo",
  description: "Repeats the last message.",
  capabilities: [],
  commands: [],
  inputSchema: schema,
  outputSchema: schema,
};

describe("The example with a service behind a Next.js route", () => {
  let example: InstalledExample;
  let server: TestServer;
  let next: ChildProcess;
  let url: string;
  let printed = "";
  beforeAll(async () => {
    example = installExample("nextjs-route");
    server = await startTestServer({ graphs: graphRegistry([{ descriptor, create: () => echo }]) });
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    next = spawn(join(example.folder, "node_modules/.bin/next"), ["dev", "-p", String(port)], {
      cwd: example.folder,
      env: { ...process.env, NEXT_TELEMETRY_DISABLED: "1", THROUGHLINE_URL: server.url },
      detached: true,
    });
    next.stdout?.on("data", (bytes: Buffer) => {
      printed += bytes.toString();
    });
    next.stderr?.on("data", (bytes: Buffer) => {
      printed += bytes.toString();
    });
    await vi.waitFor(
      async () => {
        const page = await fetch(url);
        expect(await page.text(), printed).toContain("passed on to the Throughline service");
      },
      { timeout: 240_000, interval: 500 },
    );
  }, 900_000);
  afterAll(async () => {
    // Its workers are in its group.
    if (next?.pid !== undefined) process.kill(-next.pid, "SIGKILL");
    await server?.close();
    example?.remove();
  });

  const run = (threadId: string, content: string, signal?: AbortSignal) =>
    fetch(`${url}/api/copilotkit/agent/langgraph:echo/run`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ threadId, messages: [{ id: `${threadId}-1`, role: "user", content }] }),
      ...(signal && { signal }),
    });

  async function subscribers(): Promise<string | undefined> {
    return /^throughline_open_streams\S* (\d+)/m.exec(
      await (await fetch(`${server.url}/metrics`)).text(),
    )?.[1];
  }

  it("streams each event as it comes", async () => {
    const at: number[] = [];
    for await (const event of sseEvents(await run("streamed", "a sentence of some length")))
      if (isType("TEXT_MESSAGE_CONTENT")(event)) at.push(performance.now());
    // All at once would be milliseconds; it is written letter by letter.
    expect(at.length).toBeGreaterThan(2);
    expect((at.at(-1) ?? 0) - (at[0] ?? 0)).toBeGreaterThan(200);
  });

  it("lets a reader go, whose run goes on, and who comes back sees all of it", async () => {
    const leaving = new AbortController();
    const text = "something long enough to leave in the middle of it, and to come back to";
    await readEvents(await run("left", text, leaving.signal), isType("TEXT_MESSAGE_CONTENT"));
    leaving.abort();
    // Next.js compiles the route when it is first asked for.
    await vi.waitFor(async () => expect(await subscribers()).toBe("0"), { timeout: 60_000 });
    const agent = new HttpAgent({
      url: `${url}/api/copilotkit/agent/langgraph:echo/connect`,
      threadId: "left",
    });
    await agent.runAgent();
    expect(agent.messages.map(({ content }) => content)).toEqual([text, `You said: ${text}`]);
  });

  it("serves useChat's routes too", async () => {
    const answer = await fetch(`${url}/api/ai-sdk/langgraph:echo/chat/left`);
    expect(await answer.json()).toMatchObject({ messages: [{ role: "user" }, { role: "assistant" }] });
  });
});
