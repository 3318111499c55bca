import { createSimulatedClock, type Envelope, type Fence, systemClock } from "@throughline/ai-core";
import type { AppendResult } from "@throughline/thread-log";
import { describe, expect, it } from "vitest";
import { type AppendFailure, createAppendQueue } from "./append-queue.js";

const thread = { account: "acme", threadId: "t" };
const fence: Fence = { threadId: "t", runId: "r", token: 1n };

function entry(seq: number): Envelope {
  return {
    type: "custom",
    ts: 0,
    trace_id: "trace",
    run_id: "r",
    thread_id: "t",
    attempt: 0,
    parent_id: null,
    call_id: "r",
    seq,
    origin: "live",
    agent: "a",
    payload: { name: "n", value: seq },
  };
}

function openQueue(maxWaiting?: number) {
  const appends: { entries: readonly Envelope[]; answer: (result: AppendResult | Error) => void }[] = [];
  const failures: AppendFailure[] = [];
  const queue = createAppendQueue({
    log: {
      append: (_, entries) =>
        new Promise((resolve, reject) => {
          appends.push({
            entries,
            answer: (result) => (result instanceof Error ? reject(result) : resolve(result)),
          });
        }),
    },
    clock: systemClock,
    stallMs: 60_000,
    thread,
    fence,
    onAppended() {},
    onFailure: (failure) => failures.push(failure),
    ...(maxWaiting !== undefined && { maxWaiting }),
  });
  return { queue, appends, failures };
}

const done: AppendResult = { ok: true, epoch: "e", first: 1, last: 1 };
/** Everything that is ready has run. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("An append queue", () => {
  it("appends at once, and what comes meanwhile together, in order", async () => {
    const { queue, appends } = openQueue();
    queue.push([entry(1)]);
    queue.push([entry(2)]);
    queue.push([entry(3), entry(4)]);
    expect(appends.map(({ entries }) => entries.map(({ seq }) => seq))).toEqual([[1]]);
    appends[0]?.answer(done);
    await turn();
    expect(appends.map(({ entries }) => entries.map(({ seq }) => seq))).toEqual([[1], [2, 3, 4]]);
    appends[1]?.answer(done);
    expect(await queue.drained()).toEqual({ ok: true, next: undefined });
  });

  it("holds its caller back while too much waits", async () => {
    const { queue, appends } = openQueue(2);
    queue.push([entry(1)]);
    queue.push([entry(2)]);
    expect(queue.room()).toBeUndefined();
    queue.push([entry(3)]);
    let hasRoom = false;
    void queue.room()?.then(() => {
      hasRoom = true;
    });
    await turn();
    expect(hasRoom).toBe(false);
    appends[0]?.answer(done);
    await turn();
    expect(hasRoom).toBe(true);
  });

  it("once refused, says so once, takes nothing more and holds nobody back", async () => {
    const { queue, appends, failures } = openQueue(1);
    queue.push([entry(1)]);
    queue.push([entry(2)]);
    const room = queue.room();
    appends[0]?.answer({ ok: false, reason: "fenced" });
    await room;
    queue.push([entry(3)]);
    expect(await queue.drained()).toEqual({ ok: false });
    expect(appends).toHaveLength(1);
    expect(failures).toEqual([{ kind: "refused", reason: "fenced" }]);
  });

  it("tells of a refusal that comes after it was closed, and of no other failure then", async () => {
    for (const answer of [{ ok: false, reason: "fenced" } as const, new Error("away")]) {
      const { queue, appends, failures } = openQueue();
      queue.push([entry(1)]);
      queue.close();
      appends[0]?.answer(answer);
      expect(await queue.drained()).toEqual({ ok: false });
      expect(failures).toEqual(answer instanceof Error ? [] : [{ kind: "refused", reason: "fenced" }]);
    }
  });

  it("tells a store that is away from one that refuses", async () => {
    const { queue, appends, failures } = openQueue();
    const error = new Error("away");
    queue.push([entry(1)]);
    appends[0]?.answer(error);
    expect(await queue.drained()).toEqual({ ok: false });
    expect(failures).toEqual([{ kind: "failed", error }]);
  });

  it("counts as stalled when one append takes too long, and lets its driver go", async () => {
    const clock = createSimulatedClock();
    const failures: AppendFailure[] = [];
    const queue = createAppendQueue({
      log: { append: () => new Promise(() => {}) },
      clock,
      stallMs: 60_000,
      thread,
      fence,
      onAppended() {},
      onFailure: (failure) => failures.push(failure),
    });
    queue.push([entry(1)]);
    clock.advance(59_999);
    expect(failures).toEqual([]);
    clock.advance(1);
    expect(failures).toEqual([{ kind: "stalled" }]);
    expect(queue.room()).toBeUndefined();
  });
});
