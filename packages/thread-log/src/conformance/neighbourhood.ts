import { expect } from "vitest";
import { encodeEnvelope } from "../log/entries.js";
import type { StoreAppend } from "../log/log-store.js";
import type { LeasedRun, StartRun } from "../registry/run-registry.js";

import { type ThreadRef, threadKey } from "../thread-ref.js";
import { notes, runEnd } from "./log-scene.js";
import { leased, type RegistryCase, type RegistryScene, resume } from "./registry-scene.js";

export const LONG_AGO = -1_000;
export const LOAD = { foldVersions: [1], returnsTo: 1, shortlyBefore: 9, limit: 9 };

/** A case about a thread that has neighbours of every kind. */
export function amongNeighbours({ name, run }: RegistryCase): RegistryCase {
  return {
    name,
    run(scene) {
      const thread = { ...scene.thread, subject: "bob" };
      return run({ ...scene, thread, request: (wanted) => scene.request({ thread, ...wanted }) });
    },
  };
}

/** Threads that share all but one part of the key, which comes before the thread's: a statement that forgets it finds them first. */
export function neighboursOf(thread: ThreadRef): readonly ThreadRef[] {
  return [
    { ...thread, account: `-${thread.account}` },
    { ...thread, subject: "ann" },
    { ...thread, threadId: `-${thread.threadId}` },
  ];
}

export interface Settled {
  readonly thread: ThreadRef;
  readonly epoch: string;
  readonly running: LeasedRun;
  readonly waiting: StartRun;
}

let appends = 0;

export function appendOf(thread: ThreadRef, token: bigint, entries = notes(thread, "more")): StoreAppend {
  appends += 1;
  const appendId = `neighbours-no.${String(appends).padStart(9, "0")}`;
  return { thread, token, appendId, entries: entries.map(encodeEnvelope) };
}

/** Of the snapshot that every thread has at the same position. */
export function stateOf(thread: ThreadRef): string {
  return `ab of ${threadKey(thread)}`;
}

/**
 * Something of everything, under the same names in every thread: a log whose first entry was trimmed behind a snapshot, an
 * answered and an open question, a run, one that waits, and a stop that came too early.
 */
export async function settle(
  { registry, instance, request }: RegistryScene,
  thread: ThreadRef,
): Promise<Settled> {
  const { store } = instance;
  const asking = leased(await registry.start(request({ thread, alias: "asked" })));
  const { epoch } = asking.head;
  const entries = [...notes(thread, "a"), runEnd(thread, "ended"), ...notes(thread, "b", "c")];
  await store.commit([appendOf(thread, asking.fence.token, entries)]);
  await store.saveSnapshot(thread, { position: { epoch, seq: 2 }, foldVersion: 1, state: stateOf(thread) });
  await store.trim(thread, epoch, 2, 10);
  await registry.finish(asking.fence, { status: "interrupted", interrupts: ["i1", "i2"] });
  const running = leased(await registry.start(request({ thread, alias: "runs", start: resume({ i1: 1 }) })));
  const waiting = request({ thread, alias: "waits", strategy: "enqueue" });
  await registry.start(waiting);
  await registry.stop(thread, { alias: "stopped" });
  return { thread, epoch, running, waiting };
}

/** Everything that can be known of a thread. */
export async function digestOf({ registry, instance }: RegistryScene, thread: ThreadRef): Promise<unknown> {
  const { store, directory } = instance;
  const asked = { thread, runId: "none", answers: ["i1", "i2"] };
  const look = await registry.look({ ...asked, alias: "waits" });
  const { runs } = await registry.look({ ...asked, alias: "stopped" });
  return {
    look: { ...look, openRuns: 0 },
    isStopped: runs.stopped,
    runs: await registry.list(thread, 20),
    log: await store.read([{ thread, epoch: undefined, afterSeq: 0 }], 100),
    kept: await store.kept(thread, 0, 10),
    terminal: await store.terminal(thread, "ended"),
    snapshot: await store.snapshot(thread, [1, 2]),
    loaded: await store.load?.(thread, LOAD),
    snapshots: await Promise.all([2, 3, 4].map((seq) => store.snapshot(thread, [1], seq))),
    excess: await store.excess(thread, { maxBytes: 1 }),
    uncompacted: await store.compaction?.uncompacted(thread, LONG_AGO, 100),
    listing: await directory.find(thread),
  };
}

/** Cases share a database: what others left is claimed along with it. */
export function ofNeighbourhood({ account }: ThreadRef, claims: readonly LeasedRun[]): readonly LeasedRun[] {
  return claims.filter(({ run }) => run.thread.account.endsWith(account));
}

export function bytesOf(entries: StoreAppend["entries"]): number {
  return entries.reduce((sum, { bytes }) => sum + bytes, 0);
}

export interface Neighbourhood {
  readonly own: Settled;
  readonly others: readonly Settled[];
  /** Of all neighbours but those that are named. */
  expectUntouched(...but: readonly Settled[]): Promise<void>;
}

export async function neighbourhood(scene: RegistryScene): Promise<Neighbourhood> {
  const others: Settled[] = [];
  for (const each of neighboursOf(scene.thread)) others.push(await settle(scene, each));
  const own = await settle(scene, scene.thread);
  const before = new Map<Settled, unknown>();
  for (const each of others) before.set(each, await digestOf(scene, each.thread));
  return {
    own,
    others,
    async expectUntouched(...but) {
      for (const each of others.filter((other) => !but.includes(other))) {
        expect(await digestOf(scene, each.thread)).toEqual(before.get(each));
      }
    },
  };
}
