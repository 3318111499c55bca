import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../../scripts/run-command.mjs";
import { readManifest, root } from "../../scripts/workspace-packages.mjs";
import { startUpstreamServer, type UpstreamServer } from "../executor/upstream-server.js";
import { schemasKnown } from "./schemas-known.js";

const EXAMPLE = "examples/langgraph-agent-with-connect";
const INSTALL_TIMEOUT_MS = 240_000;

let server: UpstreamServer;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "throughline-example-"));
  for (const path of [EXAMPLE, "patches/@ag-ui__langgraph@0.0.43.patch"]) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    cpSync(join(root, path), join(folder, path), { recursive: true });
  }
  const pnpm = readManifest(".").packageManager ?? "pnpm";
  await runCommand(
    "npx",
    ["--yes", "--loglevel=error", pnpm, "install", "--no-lockfile", "--ignore-scripts"],
    {
      cwd: join(folder, EXAMPLE),
      timeoutMs: INSTALL_TIMEOUT_MS,
    },
  );
  server = await startUpstreamServer({ project: new URL("./graphs/langgraph.json", import.meta.url) });
  await schemasKnown(new Client({ apiUrl: server.url }), "teller");
}, INSTALL_TIMEOUT_MS + 240_000);

afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("the example shows a run of somebody else as it goes on, and the finished thread afterwards", async () => {
  const client = new Client({ apiUrl: server.url });
  const { thread_id } = await client.threads.create();
  const { run_id } = await client.runs.create(thread_id, "teller", {
    input: { messages: [{ role: "user", content: "Tell me." }], script: { words: 200, paceMs: 50 } },
    streamMode: ["events", "values"],
    streamResumable: true,
  });
  const watch = () =>
    runCommand(process.execPath, ["watch.mjs", server.url, "teller", thread_id], {
      cwd: join(folder, EXAMPLE),
      timeoutMs: 60_000,
    });
  const during = await watch();
  const after = await watch();
  expect(during).toContain(`run ${run_id}`);
  const end = (said: string) => said.slice(said.indexOf("The thread now:"));
  expect(end(during)).toMatch(
    /^The thread now:\n {2}user: Tell me\.\n {2}assistant: listen\. word-0 .*word-199 \n$/,
  );
  expect(end(after)).toBe(end(during));
  expect(after).not.toContain(run_id);
});
