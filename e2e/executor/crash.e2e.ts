import { Client } from "@langchain/langgraph-sdk";
import { ThroughlineError } from "@throughline/ai-core";
import { createLangGraphDevProvider } from "@throughline/graph-executor";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { countedIn, numbersTo, orderOf, runOn } from "./run-on.js";
import { startUpstreamServer, type UpstreamServer } from "./upstream-server.js";

const LOST_AFTER_MS = 4_000;

let server: UpstreamServer;
let direct: Client;

beforeAll(async () => {
  server = await startUpstreamServer();
  direct = new Client({ apiUrl: server.url, apiKey: null });
});
afterAll(() => server?.stop());

function provider() {
  return createLangGraphDevProvider({
    url: server.url,
    patience: { lostAfterMs: LOST_AFTER_MS, idleMs: 1_000, probeMs: 500 },
  });
}

describe("kill -9 of the server in the middle of a run", () => {
  it("ends the run as lost within the configured time, when the server stays away", async () => {
    const request = orderOf("counter", { count: 2_000, paceMs: 10 });
    const { stream, final } = provider().runGraph(request);
    let chunks = 0;
    let killedAt = 0;
    for await (const _ of stream) {
      if (++chunks !== 20) continue;
      await server.kill();
      killedAt = performance.now();
    }
    const took = performance.now() - killedAt;
    expect(await final).toMatchObject({ ok: false, status: "error", error: { code: "run_lost" } });
    expect(took).toBeLessThan(LOST_AFTER_MS + 2_000);
    await server.restart();
    // What had not been written down is gone with the server; the thread is made anew.
    const { final: next, chunks: counted } = await runOn(
      provider(),
      orderOf("counter", { count: 3, paceMs: 0 }, { threadId: request.threadId }),
    );
    expect(next.status).toBe("success");
    expect(countedIn(counted)).toEqual(numbersTo(3));
  });
});

describe("a restart of the server in the middle of a run", () => {
  it("leaves a run that runs for ever: it ends as lost, and the thread takes the next run", async () => {
    const first = orderOf("counter", { count: 1 });
    await runOn(provider(), first);
    const { threadId } = first;
    const { stream, final } = provider().runGraph(
      orderOf("counter", { count: 2_000, paceMs: 10 }, { threadId }),
    );
    let chunks = 0;
    let backAt = 0;
    for await (const _ of stream) {
      if (++chunks !== 20) continue;
      await server.shutDown();
      await server.restart();
      expect(await direct.runs.list(threadId, { status: "running" })).toHaveLength(1);
      backAt = performance.now();
    }
    expect(await final).toMatchObject({ ok: false, status: "error", error: { code: "run_lost" } });
    expect(performance.now() - backAt).toBeLessThan(LOST_AFTER_MS + 2_000);
    expect(await direct.runs.list(threadId, { status: "running" })).toEqual([]);

    const again = await runOn(provider(), orderOf("counter", { count: 3, paceMs: 0 }, { threadId }));
    expect(again.final.status).toBe("success");
    expect(again.final.messages?.map(({ content }) => content)).toEqual([
      "Go",
      "I counted to 1.",
      "Go",
      "I counted to 3.",
    ]);
  });

  it("lets a driver that takes the run up later find what was left behind, and run the input again", async () => {
    const first = orderOf("counter", { count: 1 });
    await runOn(provider(), first);
    const { threadId } = first;
    const request = orderOf("counter", { count: 2_000, paceMs: 10 }, { threadId });
    const lease = new AbortController();
    const { stream } = provider().runGraph({ ...request, signal: lease.signal });
    let chunks = 0;
    for await (const _ of stream) {
      if (++chunks === 20) lease.abort(new ThroughlineError("shutting_down", "This instance is going away."));
    }
    await server.shutDown();
    await server.restart();
    const { start } = request;
    if (start.kind !== "input") throw new Error("The run began with input.");
    const original = { ...start, state: { count: 4, paceMs: 0 } };
    const taken = { ...request, attempt: 1, start: { kind: "continue", original } } as const;
    expect((await runOn(provider(), taken)).final.error?.code).toBe("run_lost");
    const { final, chunks: counted } = await runOn(provider(), { ...taken, attempt: 2 });
    expect(final.status).toBe("success");
    expect(countedIn(counted)).toEqual(numbersTo(4));
  });
});
