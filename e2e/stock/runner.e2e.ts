import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { type RigPostgres, startPostgres } from "../server/rig/start-postgres.js";
import { type StockClient, stockClient } from "../server/stock/stock-client.js";
import { type RuntimeOptions, type RuntimeProcess, startRuntime, stockFolder } from "./rig/start-runtime.js";

let postgres: RigPostgres;
let folder: string;
let databaseUrl: string;
const running: RuntimeProcess[] = [];

beforeAll(async () => {
  [postgres, folder] = await Promise.all([startPostgres(), stockFolder()]);
  databaseUrl = await postgres.createDatabase();
}, 900_000);
afterEach(async () => {
  await Promise.all(running.splice(0).map((runtime) => runtime.kill()));
});
afterAll(() => postgres.stop());

async function instance(options: Partial<RuntimeOptions> = {}): Promise<RuntimeProcess> {
  const runtime = await startRuntime(folder, { databaseUrl, ...options });
  running.push(runtime);
  return runtime;
}

function client({ url }: RuntimeProcess, threadId: string, agent = "count"): StockClient {
  return stockClient("CopilotKit 1.75.0", { url, agent, threadId });
}

function post(
  { url }: RuntimeProcess,
  route: "run" | "connect",
  input: { readonly threadId: string; readonly messages: readonly object[] },
  headers: Record<string, string> = {},
): Promise<Response> {
  const rest = { runId: randomUUID(), state: {}, tools: [], context: [], forwardedProps: {} };
  return fetch(`${url}/api/copilotkit/agent/langgraph:count/${route}`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream", ...headers },
    body: JSON.stringify({ ...rest, ...input }),
  });
}

const numbers = (last: number) => Array.from({ length: last }, (_, index) => `${index + 1} `).join("");
const textsOf = ({ messages }: StockClient) => messages.map(({ content }) => content);

it("fits CopilotKit's own types", async () => {
  const source = `
    import { CopilotRuntime, type AgentRunner } from "@copilotkit/runtime/v2";
    import { ThroughlineRunner } from "@throughline/copilotkit-runner";
    const runner: AgentRunner = new ThroughlineRunner({ store: { kind: "memory" } });
    export const runtime = new CopilotRuntime({ agents: {}, runner });
  `;
  writeFileSync(join(folder, "programs/types.mts"), source);
  const flags = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2022"];
  const tsc = join(folder, "node_modules/typescript/bin/tsc");
  await promisify(execFile)(process.execPath, [tsc, ...flags, join(folder, "programs/types.mts")]);
});

it("shows a run of one process in another, live, and to two viewers alike", async () => {
  const [first, second] = await Promise.all([instance(), instance()]);
  const threadId = randomUUID();
  const asker = client(first, threadId);
  asker.say("count to 60");
  const run = asker.run();
  await asker.heard("TEXT_MESSAGE_CONTENT");
  const viewers = [client(second, threadId), client(second, threadId)];
  const told = await Promise.all(viewers.map((viewer) => viewer.connect()));
  await run;
  for (const viewer of [asker, ...viewers]) expect(textsOf(viewer)).toEqual(["count to 60", numbers(60)]);
  for (const { types } of told) {
    expect(types.slice(0, 3)).toEqual(["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT"]);
    expect(types.at(-1)).toBe("RUN_FINISHED");
  }
});

it("doubles nothing when the same client connects again, idle or in the middle of a run", async () => {
  const runtime = await instance();
  const threadId = randomUUID();
  const asker = client(runtime, threadId);
  asker.say("count to 50");
  const run = asker.run();
  await asker.heard("TEXT_MESSAGE_CONTENT");
  const viewer = client(runtime, threadId);
  const first = viewer.connect();
  await viewer.heard("TEXT_MESSAGE_CONTENT");
  await viewer.connect();
  await Promise.all([first, run]);
  await viewer.connect();
  expect(textsOf(viewer)).toEqual(["count to 50", numbers(50)]);
});

it("ends a run whose process was killed with an error, shows what it had said, and takes the next run", async () => {
  const [first, second] = await Promise.all([instance({ leaseMs: 3_000 }), instance({ leaseMs: 3_000 })]);
  const threadId = randomUUID();
  // Not by the stock client, which leaves a rejection behind when its server dies.
  const messages = [{ id: randomUUID(), role: "user", content: "count to 1000" }];
  const answer = await post(first, "run", { threadId, messages });
  void answer.text().catch(() => {});
  const viewer = client(second, threadId);
  const viewed = viewer.connect();
  await viewer.heard("TEXT_MESSAGE_CONTENT");
  await first.kill();
  const { errors } = await viewed;
  expect(errors).toEqual([
    { code: "run_lost", metadata: { throughline: expect.objectContaining({ threadId, code: "run_lost" }) } },
  ]);
  const again = client(second, threadId);
  const { types } = await again.connect();
  expect(types.at(-1)).toBe("RUN_FINISHED");
  expect(textsOf(again)).toEqual(textsOf(viewer));
  expect(String(textsOf(again)[1])).toMatch(/^1 2 /);
  again.say("count to 3");
  await again.run();
  expect(textsOf(again).slice(-2)).toEqual(["count to 3", numbers(3)]);
});

it("stops a run from another process, and both viewers hear a proper end", async () => {
  const [first, second] = await Promise.all([instance(), instance()]);
  const threadId = randomUUID();
  const asker = client(first, threadId);
  asker.say("count to 1000");
  const run = asker.run();
  await asker.heard("TEXT_MESSAGE_CONTENT");
  const viewer = client(second, threadId);
  const viewed = viewer.connect();
  await viewer.heard("TEXT_MESSAGE_CONTENT");
  const answer = await fetch(`${second.url}/api/copilotkit/agent/langgraph:count/stop/${threadId}`, {
    method: "POST",
  });
  expect(await answer.json()).toMatchObject({ stopped: true });
  const [ran, seen] = await Promise.all([run, viewed]);
  for (const { types, errors } of [ran, seen]) {
    expect(errors).toEqual([]);
    expect(types.slice(-2)).toEqual(["TEXT_MESSAGE_END", "RUN_FINISHED"]);
  }
  expect(textsOf(viewer)).toEqual(textsOf(asker));
});

it("refuses a second run from another process with an error that the client hears", async () => {
  const [first, second] = await Promise.all([instance(), instance()]);
  const threadId = randomUUID();
  const asker = client(first, threadId);
  asker.say("count to 40");
  const run = asker.run();
  await asker.heard("TEXT_MESSAGE_CONTENT");
  const other = client(second, threadId);
  other.say("count to 2");
  const { errors } = await other.run();
  expect(errors).toMatchObject([{ code: "busy" }]);
  const { errors: none } = await run;
  expect(none).toEqual([]);
  expect(textsOf(asker)).toEqual(["count to 40", numbers(40)]);
});

it("tells an agent's failure as an error that the client hears, without its secrets", async () => {
  const runtime = await instance();
  const asker = client(runtime, randomUUID(), "failing");
  asker.say("hello");
  const { types, errors } = await asker.run();
  expect(types).toEqual(["RUN_STARTED", "RUN_ERROR"]);
  expect(errors).toMatchObject([{ code: "run_failed" }]);
  expect(JSON.stringify(errors)).not.toContain("sk-secret");
});

it("goes on from the cursor that a client sends, through the runtime's own headers", async () => {
  const runtime = await instance({ cursors: true });
  const threadId = randomUUID();
  const asker = client(runtime, threadId);
  asker.say("count to 5");
  await asker.run();
  const connect = async (headers: Record<string, string> = {}) =>
    (await post(runtime, "connect", { threadId, messages: [] }, headers)).text();
  const whole = await connect();
  const cursor = [...whole.matchAll(/"cursor":"([^"]+)"/g)].at(-1)?.[1] ?? "";
  expect(cursor).not.toBe("");
  expect(whole).toContain("MESSAGES_SNAPSHOT");
  expect(await connect({ "x-last-event-id": cursor })).not.toContain("MESSAGES_SNAPSHOT");
});
