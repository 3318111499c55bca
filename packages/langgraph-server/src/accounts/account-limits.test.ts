import { createSimulatedClock } from "@throughline/ai-core";
import { createMemoryDatabase, createMemoryRunRegistry } from "@throughline/thread-log";
import { describe, expect, it } from "vitest";
import { createAccountLimiter, DEFAULT_LIMITS } from "./limits.js";

const limits = { ...DEFAULT_LIMITS, maxConcurrentRuns: 2, maxWatchers: 2 };

describe("an account", () => {
  it("is bounded in watchers, for each account by itself", async () => {
    const usage = createAccountLimiter();
    const first = await usage.watch("a", limits);
    await usage.watch("a", limits);
    await expect(usage.watch("a", limits)).rejects.toThrow("watches 2 streams already");
    await usage.watch("b", limits);
    first.leave();
    first.leave();
    await usage.watch("a", limits);
    await expect(usage.watch("a", limits)).rejects.toThrow("watches 2 streams already");
  });

  it("is bounded in runs over all instances, and told which limit it met and what to do", async () => {
    const database = createMemoryDatabase();
    const instances = [createMemoryRunRegistry(database), createMemoryRunRegistry(database)];
    const [here, elsewhere] = instances.map((registry) => ({ registry, usage: createAccountLimiter() }));
    if (!here || !elsewhere) return expect.unreachable();
    const start = async ({ registry, usage }: typeof here, runId: string) => {
      const place = await usage.start("a", limits, () => registry.countOpen("a"));
      const started = await registry.start({
        owner: "x",
        leaseMs: 60_000,
        thread: { account: "a", threadId: runId },
        stateKey: "chat/main",
        runId,
        graphId: "langgraph:chat",
        origin: { kind: "client" },
        start: { kind: "input", messages: [] },
        request: {},
        strategy: "reject",
        listing: { threadName: "main", derivedTitle: undefined },
      });
      place.leave();
      if (started.kind !== "started") throw new Error(started.kind);
      return started;
    };
    const first = await start(here, "r1");
    await start(elsewhere, "r2");
    for (const instance of [here, elsewhere]) {
      await expect(start(instance, "r3")).rejects.toMatchObject({
        code: "rate_limited",
        message: expect.stringMatching(/^maxConcurrentRuns: .*2 runs open already\. Wait for one to end/),
        details: { limit: "maxConcurrentRuns", max: 2, retryAfterMs: expect.any(Number) },
      });
    }
    await elsewhere.registry.finish(first.fence, { status: "success" });
    await start(elsewhere, "r3");
  });

  it("never gets two in at once for the last place, nor loses one to a start that failed", async () => {
    const usage = createAccountLimiter();
    let open = 0;
    const starts = Array.from({ length: 6 }, async (_, index) => {
      const place = await usage.start("a", limits, async () => open);
      // The first is refused for a reason of its own; each of the others stays open.
      if (index > 0) open += 1;
      place.leave();
    });
    const outcomes = await Promise.allSettled(starts);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    expect(open).toBe(2);
  });

  it("lets go of its place when the runs can't be counted", async () => {
    const usage = createAccountLimiter();
    const away = () => Promise.reject(new Error("the store is away"));
    await expect(usage.start("a", { ...limits, maxConcurrentRuns: 1 }, away)).rejects.toThrow("away");
    const place = await usage.start("a", { ...limits, maxConcurrentRuns: 1 }, async () => 0);
    place.leave();
  });

  it("is bounded in starts a minute", async () => {
    const clock = createSimulatedClock();
    const usage = createAccountLimiter({ clock });
    const few = { ...DEFAULT_LIMITS, maxStartsPerMinute: 2 };
    const start = async (account: string) => (await usage.start(account, few, async () => 0)).leave();
    await start("a");
    await start("a");
    await expect(start("a")).rejects.toMatchObject({
      code: "rate_limited",
      details: { limit: "maxStartsPerMinute", max: 2, retryAfterMs: 30_000 },
    });
    await start("b");
    clock.advance(30_000);
    await start("a");
  });

  it("is bounded in bytes a minute, declared or read, and pays nothing for what is refused unread", async () => {
    const clock = createSimulatedClock();
    const usage = createAccountLimiter({ clock });
    const few = { ...DEFAULT_LIMITS, maxBodyBytes: 600, maxBodyBytesPerMinute: 1_000 };
    await usage.body("a", few, 601);
    await usage.body("a", few, 600);
    await usage.body("a", few, undefined);
    usage.bodyRead("a", few, 600);
    await expect(usage.body("a", few, 1)).rejects.toThrow("maxBodyBytesPerMinute");
    await usage.body("b", few, 1);
    clock.advance(30_000);
    await usage.body("a", few, 1);
  });
});
