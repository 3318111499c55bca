import { randomBytes } from "node:crypto";
import type { Clock, Envelope, LogEntry } from "@throughline/ai-core";
import type { LogStore, StoreAppendResult, StoreFinish } from "../port/log-store.js";
import type { AppendResult } from "../port/thread-log.js";
import { type ThreadRef, threadKey } from "../port/thread-ref.js";
import { createCommitLane } from "./commit-lane.js";

export interface GroupCommitOptions {
  readonly store: LogStore;
  readonly clock: Clock;
  /** Ends every wait for a store that is away: what is not committed by then fails with a `StoreOutage`. */
  readonly signal: AbortSignal;
  /** Called once per thread and commit, before its appends resolve. */
  readonly onCommitted: (
    thread: ThreadRef,
    entries: readonly LogEntry[],
    result: Extract<StoreAppendResult, { ok: true }>,
  ) => void;
  /**
   * An attempt whose answer was lost was followed by a refusal, or by none that was answered: the entries may be in the log,
   * and our own watchers, who are not woken for our commits, must look.
   */
  readonly onUnsure: (thread: ThreadRef) => void;
}

export interface GroupAppendOptions {
  readonly signal?: AbortSignal | undefined;
  readonly finish?: StoreFinish | undefined;
}

export interface GroupCommit {
  /** An append that is aborted before its commit is sent is dropped, and rejects with the signal's reason. */
  append(
    thread: ThreadRef,
    token: bigint,
    envelopes: readonly Envelope[],
    options?: GroupAppendOptions,
  ): Promise<AppendResult>;
  /** Resolves when nothing is in flight or waiting. */
  settled(): Promise<void>;
}

/** Digits of a count in base 36, so that ids of one writer compare as text in the order of their commits. */
const COUNT_DIGITS = 9;

/**
 * Commits appends in as many lanes as the store takes commits at once. A thread is always in the same lane, which keeps its
 * appends in order; a lane whose commit takes long holds up its own threads only.
 */
export function createGroupCommit(options: GroupCommitOptions): GroupCommit {
  /** Ids of commits are a random name and a count: a random number for each costs more than encoding its entries. */
  const writer = randomBytes(9).toString("base64url");
  let units = 0;
  const nextId = () => {
    units += 1;
    return `${writer}.${units.toString(36).padStart(COUNT_DIGITS, "0")}`;
  };
  const inTurn = createTurns();
  const createLane = () => createCommitLane({ ...options, nextId, inTurn });
  const first = createLane();
  const lanes = [first, ...Array.from({ length: options.store.committers - 1 }, createLane)];

  return {
    append(thread, token, envelopes, { signal, finish } = {}) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      const lane = lanes[hash(thread.threadId) % lanes.length] ?? first;
      return lane.append({ key: threadKey(thread), thread, token, envelopes, signal, finish });
    },
    async settled() {
      await Promise.all(lanes.map((lane) => lane.settled()));
    },
  };
}

/** Runs one piece of work at a time, in the order given. */
function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work, work);
    last = mine;
    return mine;
  };
}

/** FNV-1a: once per append, so it must cost less than the append's encoding. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return (value ^ (value >>> 15)) >>> 0;
}
