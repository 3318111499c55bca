import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createScriptedProvider,
  type ScriptedProvider,
  type ScriptedRun,
} from "./testing/scripted-provider.js";
import { isType, readEvents, typesOf } from "./testing/sse-events.js";
import { startTestServer, type TestServer } from "./testing/test-server.js";

const SECRET = "the-owners-secret-words";
const OWNER = { "x-throughline-account": "owner", "x-throughline-subject": "ann" };

let server: TestServer;
let provider: ScriptedProvider;
let open: ScriptedRun;
let owners: Promise<unknown>;
beforeAll(async () => {
  provider = createScriptedProvider();
  server = await startTestServer({ graphs: provider });
  const run = (threadId: string, runId: string) =>
    server.post(
      "/api/copilotkit/agent/scripted/run",
      { threadId, runId, messages: [{ id: `m-${runId}`, role: "user", content: SECRET }] },
      OWNER,
    );
  const done = run("done", "done-run");
  const first = await provider.nextRun();
  first.say(SECRET);
  first.end();
  await readEvents(await done);
  owners = run("open", "open-run").then((response) => readEvents(response));
  open = await provider.nextRun();
  open.say(SECRET);
});
afterAll(() => server.close());

/** Everybody but the owner: another account, another person of the account, nobody in particular of the account. */
const stranger = fc.constantFrom<Record<string, string>>(
  { "x-throughline-account": "stranger" },
  { "x-throughline-account": "stranger", "x-throughline-subject": "ann" },
  { "x-throughline-account": "owner" },
  { "x-throughline-account": "owner", "x-throughline-subject": "bob" },
  { "x-throughline-account": "owner-ann" },
  { "x-throughline-account": "Owner", "x-throughline-subject": "ann" },
);
const threadName = () =>
  fc.constantFrom(
    "done",
    "open",
    "owner:@ann/scripted/open",
    "@ann/scripted/done",
    "scripted/open",
    open.request.threadId,
    open.request.stateKey,
    "../owner/open",
    "OPEN",
  );
const runId = () => fc.constantFrom("open-run", "done-run", open.request.runId);

interface Probe {
  readonly who: Record<string, string>;
  readonly thread: string;
  readonly run: string;
  readonly route: string;
  readonly cursor: string | undefined;
}

async function disturbsNothing({ who, thread, run, route, cursor }: Probe): Promise<void> {
  const headers = { ...who, ...(cursor !== undefined && { "last-event-id": cursor }) };
  const response = await ask(route, thread, run, headers);
  const text = await response.text();
  expect(response.status).toBeLessThan(500);
  expect(text).not.toContain(SECRET);
  expect(text).not.toContain(`m-${run}`);
  if (route.includes("stop")) expect(text).not.toMatch(/"outcome":"(stopping|cancelled|ended)"/);
}

describe("a stranger", () => {
  it("reads, stops and disturbs nothing of the owner's, whatever names and ids are known", async () => {
    const probe = fc.record({
      who: stranger,
      thread: threadName(),
      run: runId(),
      route: fc.constantFrom(
        "connect",
        "stop",
        "stop-all",
        "events",
        "poll",
        "single-connect",
        "single-stop",
      ),
      cursor: fc.constantFrom(undefined, "-1", "0"),
    });
    const probes = fc.array(probe, { minLength: 10, maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(probes, async (sent) => {
        await Promise.all(sent.map(disturbsNothing));
        expect(open.request.signal.aborted).toBe(false);
      }),
      { numRuns: 100, seed: 21 },
    );
  }, 60_000);

  it("has threads of its own under the owner's names and run ids", async () => {
    const own = server.post(
      "/api/copilotkit/agent/scripted/run",
      { threadId: "open", runId: "open-run", messages: [{ id: "mine", role: "user", content: "mine" }] },
      { "x-throughline-account": "neighbour" },
    );
    const run = await provider.nextRun();
    expect(run.request.threadId).not.toBe(open.request.threadId);
    run.say("yours");
    run.end();
    expect(typesOf(await readEvents(await own)).at(-1)).toBe("RUN_FINISHED");
  });

  it("leaves the owner's run as it was: it goes on and ends", async () => {
    open.end();
    await owners;
    const mine = await readEvents(
      await server.post("/api/copilotkit/agent/scripted/connect", { threadId: "open" }, OWNER),
    );
    expect(JSON.stringify(mine.find(isType("MESSAGES_SNAPSHOT"))?.data)).toContain(SECRET);
  });
});

function ask(route: string, thread: string, run: string, headers: Record<string, string>): Promise<Response> {
  const base = "/api/copilotkit";
  const name = encodeURIComponent(thread);
  const params = { agentId: "scripted", threadId: thread };
  switch (route) {
    case "connect":
      return server.post(`${base}/agent/scripted/connect`, { threadId: thread }, headers);
    case "stop":
      return server.post(`${base}/agent/scripted/stop/${name}`, { runId: run }, headers);
    case "stop-all":
      return server.post(`${base}/agent/scripted/stop/${name}`, {}, headers);
    case "events":
      return fetch(`${server.url}/agents/scripted/threads/${name}/events?follow=false`, { headers });
    case "poll": {
      const forwardedProps = { throughline: { command: { name: "poll" } } };
      return server.post(`${base}/agent/scripted/run`, { threadId: thread, forwardedProps }, headers);
    }
    case "single-connect":
      return server.post(base, { method: "agent/connect", params, body: { threadId: thread } }, headers);
    default:
      return server.post(base, { method: "agent/stop", params, body: { runId: run } }, headers);
  }
}
