import type { LogPosition } from "@throughline/ai-core";
import { ThroughlineError } from "@throughline/ai-core";
import { expect } from "vitest";
import { createThreadLog } from "../log/create-thread-log.js";
import type { LogStore } from "../log/log-store.js";
import { readProjection } from "../log/snapshots.js";
import type { Snapshot, ThreadLog } from "../log/thread-log.js";
import type { ThreadRef } from "../thread-ref.js";
import { createLogOracle, type LogOracle, type Witness } from "./log-oracle.js";
import { fenceOf, type LogStoreFixture, newThread, notes, textFold } from "./log-scene.js";

export interface Watch extends Witness {
  /** A slow consumer takes nothing while it is held. */
  readonly hold: Hold;
  readonly leave: AbortController;
  running: Promise<void>;
  /** Called whenever it moved on. */
  moved: () => void;
}

interface Hold {
  set(held: boolean): void;
  released(): Promise<void>;
}

interface Seat {
  store: LogStore;
  log: ThreadLog;
}

/** Two instances on one database, one thread, its writers and watchers: what the commands of the model act on. */
export interface LogWorld {
  readonly thread: ThreadRef;
  readonly oracle: LogOracle;
  readonly watches: Watch[];
  /** The newest lease's. */
  readonly token: bigint;
  log(seat: number): ThreadLog;
  /** A newer lease, announced by that instance. */
  takeOver(seat: number): Promise<void>;
  /** What runs beside the commands that follow. */
  aside(work: Promise<unknown>): void;
  append(seat: number, token: bigint, count: number, mayBeThere?: boolean): Promise<boolean>;
  watch(seat: number, after: LogPosition | undefined, maxBuffered: number): void;
  restart(seat: number): Promise<void>;
  /** Lets everything come to rest, then holds it against the list. */
  conclude(): Promise<void>;
}

export type WrapStore = (store: LogStore) => LogStore;

export interface Seats {
  readonly at: readonly Seat[];
  restart(seat: number): Promise<void>;
  close(): Promise<void>;
}

/** Instances outlive a case, as servers outlive a thread. */
export async function openSeats(fixture: LogStoreFixture, wrap: WrapStore): Promise<Seats> {
  const open = async (): Promise<Seat> => {
    const store = await fixture.openStore();
    const options = { fold: textFold, snapshots: { everyEntries: 5, everyBytes: 1e9 } };
    return { store, log: createThreadLog({ store: wrap(store), ...options }) };
  };
  const at = [await open(), await open()];
  return {
    at,
    async restart(seat) {
      const old = at[seat];
      if (!old) return;
      await Promise.all([fixture.interrupt?.(), old.log.close()]);
      await fixture.closeStore(old.store);
      at[seat] = await open();
    },
    async close() {
      await Promise.all(at.map(({ log }) => log.close()));
      await Promise.all(at.map(({ store }) => fixture.closeStore(store)));
    },
  };
}

const PATIENCE_MS = 10_000;

/** Over all cases, because a store's own tokens (of deletions) come from one counter, too. */
let lastToken = 1_000_000n;

export function createLogWorld(seats: Seats): LogWorld {
  const thread = newThread();
  const oracle = createLogOracle();
  const watches: Watch[] = [];
  const asides: Promise<unknown>[] = [];
  let counter = 0;
  let token = 0n;

  const log = (seat: number): ThreadLog => {
    const found = seats.at[seat % seats.at.length];
    if (!found) throw new Error("no such seat");
    return found.log;
  };

  async function takeOver(seat: number): Promise<void> {
    lastToken += 10n;
    token = lastToken;
    const opened = await log(seat).open(thread, fenceOf(thread, token));
    expect(opened.ok, "a newer lease is let in").toBe(true);
  }

  async function append(seat: number, token: bigint, count: number, mayBeThere = false): Promise<boolean> {
    const texts = Array.from({ length: count }, () => `${counter++}`);
    for (;;) {
      try {
        const result = await log(seat).append(thread, notes(thread, ...texts), fenceOf(thread, token));
        oracle.appended(texts, result, mayBeThere);
        return result.ok;
      } catch (error) {
        // Refused before anything was done: the instance is being replaced.
        if (!isShuttingDown(error)) throw error;
        await new Promise(setImmediate);
      }
    }
  }

  async function follow(seat: number, watch: Watch, maxBuffered: number): Promise<void> {
    const { signal } = watch.leave;
    while (!signal.aborted) {
      const after = watch.seen.at(-1) ?? watch.after;
      try {
        for await (const event of log(seat).tail(thread, after, { signal, maxBuffered })) {
          if (event.kind === "entries") watch.seen.push(...event.entries);
          else watch.end = event;
          watch.moved();
          await watch.hold.released();
        }
        if (!signal.aborted) return;
      } catch (error) {
        // R19: the cursor of a watcher outlives the instance it watched from.
        if (!isShuttingDown(error)) throw error;
        await new Promise(setImmediate);
      }
    }
  }

  async function atRest(watch: Watch, head: LogPosition | undefined): Promise<void> {
    const giveUp = Date.now() + PATIENCE_MS;
    const done = () => {
      if (watch.end !== undefined) return true;
      const last = watch.seen.at(-1) ?? watch.after;
      if (head === undefined) return last === undefined;
      return last === undefined ? head.seq === 0 : last.epoch === head.epoch && last.seq === head.seq;
    };
    while (!done() && Date.now() < giveUp) {
      await Promise.race([
        new Promise<void>((resolve) => {
          watch.moved = resolve;
        }),
        new Promise<void>((resolve) => void setTimeout(resolve, 500).unref()),
      ]);
    }
  }

  /** Every one that is kept, from the newest on, says what the thread was there. */
  async function checkSnapshots(
    newest: Snapshot | undefined,
    head: LogPosition,
    whole: readonly string[],
  ): Promise<void> {
    let asked = head.seq;
    for (let found = newest; found; found = await log(0).snapshot(thread, textFold.reads, asked)) {
      const { position, state } = found;
      expect(position.epoch, "a snapshot is of the log that is").toBe(head.epoch);
      expect(position.seq, "a snapshot is not after what was asked for").toBeLessThanOrEqual(asked);
      expect(state, `the snapshot at ${position.seq}`).toEqual(whole.slice(0, position.seq));
      asked = position.seq - 1;
    }
  }

  /** In an empty log a watcher that waits cannot be told from one that was forgotten. */
  async function headOfSome(): Promise<LogPosition | undefined> {
    const head = await log(0).head(thread);
    if (head !== undefined && head.seq > 0) return head;
    await takeOver(0);
    await append(1, token, 1);
    return log(0).head(thread);
  }

  async function conclude(): Promise<void> {
    try {
      await Promise.all(asides);
      for (const { hold } of watches) hold.set(false);
      const head = await headOfSome();
      await Promise.all(watches.map((watch) => atRest(watch, head)));
      for (const watch of watches) oracle.check(watch, head);
      if (!head) return;
      let newest: Snapshot | undefined;
      const reader: Pick<ThreadLog, "read" | "snapshot"> = {
        read: log(1).read,
        snapshot: async (...asked) => {
          newest = await log(1).snapshot(...asked);
          return newest;
        },
      };
      const folded = await readProjection(reader, textFold, thread);
      if (folded.kind !== "folded") return expect.unreachable("what was trimmed was folded before");
      expect(folded.position, "snapshot and rest reach the head").toEqual(head);
      expect(folded.state.length, "and are the whole").toBe(head.seq);
      oracle.checkWhole(head.epoch, folded.state);
      await checkSnapshots(newest, head, folded.state);
    } finally {
      for (const watch of watches) watch.leave.abort();
      await Promise.allSettled([...asides, ...watches.map(({ running }) => running)]);
    }
  }

  return {
    thread,
    oracle,
    watches,
    get token() {
      return token;
    },
    log,
    takeOver,
    aside: (work) => {
      // Checked at the end; until then it is not awaited.
      work.catch(() => {});
      asides.push(work);
    },
    append,
    watch(seat, after, maxBuffered) {
      const leave = new AbortController();
      const watch: Watch = {
        name: `watcher ${watches.length}`,
        after,
        seen: [],
        end: undefined,
        hold: createHold(leave.signal),
        leave,
        running: Promise.resolve(),
        moved: () => {},
      };
      watches.push(watch);
      watch.running = follow(seat, watch, maxBuffered);
      watch.running.catch(() => watch.moved());
    },
    restart: (seat) => seats.restart(seat % seats.at.length),
    conclude,
  };
}

/** Who leaves is not held any more. */
function createHold(leaving: AbortSignal): Hold {
  let released = Promise.resolve();
  let release: (() => void) | undefined;
  const set = (held: boolean) => {
    if (held === (release !== undefined) || leaving.aborted) return;
    if (held) {
      released = new Promise((resolve) => {
        release = resolve;
      });
      return;
    }
    release?.();
    release = undefined;
  };
  leaving.addEventListener("abort", () => release?.(), { once: true });
  return { set, released: () => released };
}

function isShuttingDown(error: unknown): boolean {
  return error instanceof ThroughlineError && error.code === "shutting_down";
}
