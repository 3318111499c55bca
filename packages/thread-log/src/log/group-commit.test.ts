import { setImmediate as turn } from "node:timers/promises";
import { createSimulatedClock, type SimulatedClock, StoreOutage, systemClock } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import {
  fenceOf,
  newThread,
  note,
  notes,
  readAll,
  runEnd,
  take,
  textsOf,
  write,
} from "../conformance/log-scene.js";
import { createMemoryDatabase } from "../memory/database.js";
import { createMemoryLogStore } from "../memory/log-store.js";
import { createMemoryRunRegistry } from "../memory/run-registry.js";
import type { ThreadRef } from "../thread-ref.js";
import { createThreadLog } from "./create-thread-log.js";
import type { LogStore, StoreAppend } from "./log-store.js";

const away = () => new StoreOutage(new Error("away"));

/** A memory store whose commits can be watched, held back and broken. */
function brittleStore(database = createMemoryDatabase()) {
  const memory = createMemoryLogStore(database);
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
  };
  return { store, commits, faults };
}

const fails = (error: Error) => async (): Promise<never> => {
  throw error;
};

/** In steps, with turns in between for what each of them wakes. */
async function pass(clock: SimulatedClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1_000) {
    await turn();
    clock.advance(1_000);
    await turn();
  }
}

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
    faults.push(fails(away()), fails(away()));
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
      throw away();
    });
    expect(await log.append(thread, notes(thread, "b"), fenceOf(thread, 1))).toEqual({
      ok: false,
      reason: "fenced",
    });
    expect(textsOf(await seen)).toContain("b");
    await tail.return?.();
  });

  it("waits however long the store is away, and then writes everything once, in order", async () => {
    const clock = createSimulatedClock();
    const { store, commits } = brittleStore();
    let isAway = true;
    const flaky: LogStore = { ...store, commit: (batch) => (isAway ? fails(away())() : store.commit(batch)) };
    const log = createThreadLog({ store: flaky, clock });
    const thread = newThread();
    await log.open(thread, fenceOf(thread, 1));
    const results = ["a", "b", "c"].map((text) =>
      log.append(thread, notes(thread, text), fenceOf(thread, 1)),
    );
    await pass(clock, 600_000);
    const later = log.append(thread, notes(thread, "d"), fenceOf(thread, 1));
    isAway = false;
    await pass(clock, 2_000);
    expect(await Promise.all([...results, later])).toMatchObject(
      [1, 2, 3, 4].map((first) => ({ ok: true, first })),
    );
    expect(commits).toHaveLength(2);
    expect(await readAll(log, thread)).toEqual(["a", "b", "c", "d"]);
  });

  it("closes while the store is away, and then fails what waits with the outage", async () => {
    const clock = createSimulatedClock();
    const { store } = brittleStore();
    // The second attempt is never answered.
    const hanging = [fails(away()), () => new Promise<never>(() => {})];
    const log = createThreadLog({
      store: { ...store, commit: () => hanging.shift()?.() ?? new Promise(() => {}) },
      clock,
      drainMs: 3_000,
    });
    const thread = newThread();
    await log.open(thread, fenceOf(thread, 1));
    const flying = log
      .append(thread, notes(thread, "a"), fenceOf(thread, 1))
      .catch((error: unknown) => error);
    await turn();
    const waiting = log
      .append(thread, notes(thread, "b"), fenceOf(thread, 1))
      .catch((error: unknown) => error);
    let isClosed = false;
    const closing = log.close().then(() => {
      isClosed = true;
    });
    await pass(clock, 2_000);
    expect(isClosed).toBe(false);
    await pass(clock, 2_000);
    await closing;
    for (const failure of await Promise.all([flying, waiting])) expect(failure).toBeInstanceOf(StoreOutage);
  });

  it("drops an append that is aborted before it is sent, and lets one that was sent go on", async () => {
    const { store, faults } = brittleStore();
    const log = createThreadLog({ store });
    const thread = newThread();
    await log.open(thread, fenceOf(thread, 1));
    let release = () => {};
    faults.push(() => new Promise((resolve) => (release = resolve)));
    const abandoning = new AbortController();
    const append = (text: string, signal?: AbortSignal) =>
      log.append(thread, notes(thread, text), fenceOf(thread, 1), signal ? { signal } : {});
    const sent = append("sent", abandoning.signal);
    await turn();
    const before = append("before");
    const dropped = append("dropped", abandoning.signal).catch((error: unknown) => error);
    const after = append("after");
    const reason = new Error("The lease may be over.");
    abandoning.abort(reason);
    expect(await dropped).toBe(reason);
    await expect(append("too late", abandoning.signal)).rejects.toBe(reason);
    release();
    expect(await sent).toMatchObject({ ok: true, first: 1 });
    expect(await before).toMatchObject({ ok: true, first: 2, last: 2 });
    expect(await after).toMatchObject({ ok: true, first: 3, last: 3 });
    expect(await readAll(log, thread)).toEqual(["sent", "before", "after"]);
  });

  it("commits nothing when every append that waited was aborted", async () => {
    const { store, commits } = brittleStore();
    const log = createThreadLog({ store });
    const thread = newThread();
    await log.open(thread, fenceOf(thread, 1));
    const abandoning = new AbortController();
    const { signal } = abandoning;
    const dropped = log.append(thread, notes(thread, "a"), fenceOf(thread, 1), { signal });
    abandoning.abort(new Error("not any more"));
    await expect(dropped).rejects.toThrow("not any more");
    await log.close();
    expect(commits).toHaveLength(0);
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

  describe("with a store that takes four commits at once", () => {
    /** `slow`: it has taken its time for a while. Every commit from then on waits for its release. */
    async function held({ slow, among = 40 }: { readonly slow: boolean; readonly among?: number }) {
      const clock = createSimulatedClock();
      const { store, commits, faults } = brittleStore();
      const log = createThreadLog({ store: { ...store, committers: 4 }, clock });
      const threads = Array.from({ length: among }, () => newThread());
      for (const thread of threads) await log.open(thread, fenceOf(thread, 1));
      const [first] = threads;
      if (!first) return expect.unreachable();
      const append = (thread: ThreadRef, text: string) =>
        log.append(thread, notes(thread, text), fenceOf(thread, 1));
      for (let i = 0; i < 200; i++) {
        faults.push(async () => clock.advance(slow ? 3 : 1));
        await append(first, "before");
      }
      const releases: (() => void)[] = [];
      for (let i = 0; i < 8; i++) {
        faults.push(() => new Promise((resolve) => void releases.push(resolve)));
      }
      commits.length = 0;
      return { clock, log, threads, commits, releases, append };
    }

    const namesOf = (batch: readonly StoreAppend[]) => batch.map(({ thread }) => thread.threadId).sort();

    it("R21: sends several when it is slow to answer, a thread in one of them at a time", async () => {
      const { log, threads, commits, releases, append } = await held({ slow: true });
      const sent = threads.map((thread) => append(thread, "a"));
      await turn();
      expect(commits.map((batch) => batch.length)).toEqual([10, 10, 10, 10]);
      sent.push(...threads.map((thread) => append(thread, "b")));
      await turn();
      expect(commits).toHaveLength(4);
      const [one] = commits;
      releases[0]?.();
      await turn();
      expect(commits).toHaveLength(5);
      expect(namesOf(commits[4] ?? [])).toEqual(namesOf(one ?? []));
      for (let i = 0; i < 8; i++) {
        releases[i]?.();
        await turn();
      }
      await Promise.all(sent);
      for (const thread of threads) expect((await readAll(log, thread)).slice(-2)).toEqual(["a", "b"]);
    });

    it("R21: sends two, though it answers at once, where one half can be prepared while the other is written", async () => {
      const { threads, commits, releases, append } = await held({ slow: false, among: 200 });
      const sent = threads.map((thread) => append(thread, "a"));
      await turn();
      expect(commits.map((batch) => batch.length)).toEqual([100, 100]);
      for (const release of releases) release();
      await Promise.all(sent);
      expect(commits).toHaveLength(2);
    });

    it("R21: sends one at a time while it answers at once, and past one that is stuck", async () => {
      const { clock, threads, commits, releases, append } = await held({ slow: false });
      const [stuck, other, third] = threads;
      if (!stuck || !other || !third) return expect.unreachable();
      const sent = [append(stuck, "a")];
      await turn();
      sent.push(append(other, "a"), append(stuck, "b"));
      await turn();
      expect(commits).toHaveLength(1);
      clock.advance(100);
      sent.push(append(third, "a"));
      await turn();
      expect(commits.map(namesOf)).toEqual([[stuck.threadId], [other.threadId, third.threadId].sort()]);
      for (let i = 0; i < 3; i++) {
        releases[i]?.();
        await turn();
      }
      await Promise.all(sent);
    });
  });

  it("sets a locked thread aside, and writes what waited behind it in order once it is free", async () => {
    const clock = createSimulatedClock();
    const { store, commits } = brittleStore();
    const [held, other] = [newThread(), newThread()];
    let isHeld = true;
    const isOfHeld = ({ thread }: StoreAppend) => thread.threadId === held.threadId;
    const locking: LogStore = {
      ...store,
      async commit(batch) {
        const free = batch.filter((each) => !(isHeld && isOfHeld(each)));
        const results = await store.commit(free);
        return batch.map((each) => results[free.indexOf(each)] ?? { ok: false, reason: "locked" });
      },
    };
    const log = createThreadLog({ store: locking, clock });
    for (const thread of [held, other]) await log.open(thread, fenceOf(thread, 1));
    const append = (thread: ThreadRef, text: string) =>
      log.append(thread, notes(thread, text), fenceOf(thread, 1));
    const waiting = [append(held, "a")];
    await append(other, "a");
    waiting.push(append(held, "b"), append(held, "c"));
    await append(other, "b");
    await pass(clock, 10_000);
    expect(commits.flat().filter(isOfHeld)).toEqual([]);
    isHeld = false;
    await pass(clock, 2_000);
    expect(await Promise.all(waiting)).toMatchObject([1, 2, 3].map((first) => ({ ok: true, first })));
    expect(await readAll(log, held)).toEqual(["a", "b", "c"]);
    expect(await readAll(log, other)).toEqual(["a", "b"]);
    await log.close();
  });

  it("lets one append to which the store never answers wait alone, whatever else it was to be committed with", async () => {
    const clock = createSimulatedClock();
    const { store } = brittleStore();
    const bad = newThread();
    let isBad = true;
    const deaf: LogStore = {
      ...store,
      async commit(batch) {
        if (isBad && batch.some(({ thread }) => thread.threadId === bad.threadId)) throw away();
        return store.commit(batch);
      },
    };
    const log = createThreadLog({ store: deaf, clock });
    const good = Array.from({ length: 5 }, () => newThread());
    for (const thread of [bad, ...good]) await log.open(thread, fenceOf(thread, 1));
    const append = (thread: ThreadRef, text: string) =>
      log.append(thread, notes(thread, text), fenceOf(thread, 1));
    const alone = append(bad, "a");
    await turn();
    const behind = Promise.all(good.map((thread) => append(thread, "a")));
    await pass(clock, 3_000);
    await behind;
    isBad = false;
    await pass(clock, 2_000);
    await alone;
    isBad = true;
    const together = [bad, ...good].map((thread) => append(thread, "b"));
    await pass(clock, 10_000);
    await Promise.all(together.slice(1));
    isBad = false;
    await pass(clock, 2_000);
    await Promise.all(together);
    for (const thread of [bad, ...good]) expect(await readAll(log, thread)).toEqual(["a", "b"]);
    await log.close();
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

  it("lets nothing join a commit after its finish, and tells only the finish what comes next", async () => {
    const database = createMemoryDatabase();
    const { store, commits } = brittleStore(database);
    const log = createThreadLog({ store });
    const registry = createMemoryRunRegistry(database);
    const thread = newThread();
    const request = {
      thread,
      stateKey: "chat/main",
      graphId: "langgraph:chat",
      origin: { kind: "client" },
      start: { kind: "input", messages: [] },
      request: {},
      listing: { threadName: "main", derivedTitle: undefined },
      owner: "here",
      leaseMs: 60_000,
    } as const;
    const started = await registry.start({ ...request, runId: "run-1", strategy: "reject" });
    await registry.start({ ...request, runId: "run-2", strategy: "enqueue" });
    if (started.kind !== "started") return expect.unreachable();
    const { fence } = started;
    const results = await Promise.all([
      log.append(thread, notes(thread, "a"), fence),
      log.append(thread, [runEnd(thread, "run-1")], fence, { finish: { status: "success" } }),
      log.append(thread, notes(thread, "late"), fence),
    ]);
    expect(commits.map((batch) => batch.map(({ entries }) => entries.length))).toEqual([[2], [1]]);
    expect(commits.flat().map(({ finish }) => finish?.runId)).toEqual(["run-1", undefined]);
    expect(results.map((result) => "next" in result && result.next)).toEqual([false, "run-2", false]);
  });
});
