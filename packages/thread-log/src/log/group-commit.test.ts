import { createSimulatedClock, systemClock } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { fenceOf, newThread, note, notes, readAll, take, textsOf, write } from "../conformance/log-scene.js";
import { createMemoryDatabase } from "../memory/memory-database.js";
import { createMemoryLogStore } from "../memory/memory-log-store.js";
import type { LogStore, StoreAppend } from "../port/log-store.js";
import { createThreadLog } from "./create-thread-log.js";

class Away extends Error {}

/** A memory store whose commits can be watched, held back and broken. */
function brittleStore() {
  const memory = createMemoryLogStore(createMemoryDatabase());
  const commits: (readonly StoreAppend[])[] = [];
  const faults: ((batch: readonly StoreAppend[]) => Promise<void>)[] = [];
  const store: LogStore = {
    ...memory,
    async commit(batch) {
      commits.push(batch);
      const results = await memory.commit(batch);
      await faults.shift()?.(batch);
      return results;
    },
    isTransient: (error) => error instanceof Away,
  };
  return { store, commits, faults };
}

const fails = (error: Error) => async () => {
  throw error;
};

describe("group commit", () => {
  it("R21: commits at once when nothing is in flight, else joins the next, however many wait", async () => {
    const { store, commits, faults } = brittleStore();
    const log = createThreadLog({ store });
    const threads = Array.from({ length: 5 }, () => newThread());
    for (const thread of threads) await log.open(thread, fenceOf(thread, 1));
    let release = () => {};
    faults.push(() => new Promise((resolve) => (release = resolve)));
    const [first] = threads;
    if (!first) return expect.unreachable();
    const leading = log.append(first, notes(first, "leads"), fenceOf(first, 1));
    await new Promise(setImmediate);
    expect(commits).toHaveLength(1);
    const joining = threads.flatMap((thread) =>
      ["a", "b", "c"].map((text) => log.append(thread, [note(thread, text)], fenceOf(thread, 1))),
    );
    await new Promise(setImmediate);
    expect(commits).toHaveLength(1);
    release();
    await Promise.all([leading, ...joining]);
    expect(commits).toHaveLength(2);
    expect(commits[1]?.map(({ entries }) => entries.length)).toEqual([3, 3, 3, 3, 3]);
  });

  it("does not double an append whose answer was lost", async () => {
    const { store, commits, faults } = brittleStore();
    const log = createThreadLog({ store });
    const thread = newThread();
    await write(log, thread, ["a"]);
    faults.push(fails(new Away()), fails(new Away()));
    expect(await log.append(thread, notes(thread, "b", "c"), fenceOf(thread, 1))).toMatchObject({
      ok: true,
      first: 2,
      last: 3,
    });
    expect(commits).toHaveLength(4);
    expect(await readAll(log, thread)).toEqual(["a", "b", "c"]);
  });

  it("shows its own watchers an append that was written, though its answer was lost and its writer then fenced", async () => {
    const { store, faults } = brittleStore();
    const log = createThreadLog({ store });
    const thread = newThread();
    await write(log, thread, ["a"]);
    const tail = log.tail(thread, undefined)[Symbol.asyncIterator]();
    await take(tail, 1);
    const seen = take(tail, 1);
    faults.push(async (batch) => {
      // The heir writes before the retry, so the store no longer knows the lost append by its id.
      await store.open(thread, 2n, undefined);
      await store.commit(batch.map((append) => ({ ...append, token: 2n, appendId: "heir" })));
      throw new Away();
    });
    expect(await log.append(thread, notes(thread, "b"), fenceOf(thread, 1))).toEqual({
      ok: false,
      reason: "fenced",
    });
    expect(textsOf(await seen)).toContain("b");
    await tail.return?.();
  });

  it("gives up when the store stays away, and says so", async () => {
    const clock = createSimulatedClock();
    const { store, faults } = brittleStore();
    const log = createThreadLog({ store, clock, giveUpAfterMs: 1_000 });
    const thread = newThread();
    await log.open(thread, fenceOf(thread, 1));
    for (let i = 0; i < 20; i++) faults.push(fails(new Away()));
    const failing = expect(log.append(thread, notes(thread, "a"), fenceOf(thread, 1))).rejects.toMatchObject({
      code: "internal",
      message: "The log could not be written.",
    });
    for (let i = 0; i < 200; i++) {
      await new Promise(setImmediate);
      clock.advance(10);
    }
    await failing;
  });

  it("lets one append that the store cannot hold fail alone", async () => {
    const { store } = brittleStore();
    const bad = newThread();
    const picky: LogStore = {
      ...store,
      async commit(batch) {
        if (batch.some(({ thread }) => thread.threadId === bad.threadId)) throw new Error("cannot hold this");
        return store.commit(batch);
      },
    };
    const log = createThreadLog({ store: picky });
    const good = [newThread(), newThread()];
    for (const thread of [bad, ...good]) await log.open(thread, fenceOf(thread, 1));
    const [refused, ...kept] = await Promise.allSettled(
      [bad, ...good].map((thread) => log.append(thread, [note(thread, "a")], fenceOf(thread, 1))),
    );
    expect(refused?.status).toBe("rejected");
    for (const each of kept) expect(each).toMatchObject({ status: "fulfilled", value: { ok: true } });
  });

  it("keeps a stale writer of the same instance out of the new one's commit", async () => {
    const { store, commits } = brittleStore();
    const log = createThreadLog({ store, clock: systemClock });
    const thread = newThread();
    await log.open(thread, fenceOf(thread, 2));
    const [stale, current] = await Promise.all([
      log.append(thread, notes(thread, "stale"), fenceOf(thread, 1)),
      log.append(thread, notes(thread, "current"), fenceOf(thread, 2)),
    ]);
    expect(stale).toEqual({ ok: false, reason: "fenced" });
    expect(current).toMatchObject({ ok: true, first: 1 });
    expect(commits).toHaveLength(2);
    expect(await readAll(log, thread)).toEqual(["current"]);
  });
});
