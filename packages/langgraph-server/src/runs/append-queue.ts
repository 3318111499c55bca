import type { Clock, Envelope, Fence, Timer } from "@throughline/ai-core";
import type { Finish, RefusalReason, ThreadLog, ThreadRef } from "@throughline/thread-log";

/** The reason why nothing more can be appended. */
export type AppendFailure =
  | { readonly kind: "refused"; readonly reason: RefusalReason }
  /** The store did not take an entry, and never will. */
  | { readonly kind: "failed"; readonly error: unknown }
  /** One append has been under way for too long: another instance may fare better. */
  | { readonly kind: "stalled" };

export interface AppendQueueOptions {
  readonly log: Pick<ThreadLog, "append">;
  readonly clock: Clock;
  readonly thread: ThreadRef;
  readonly fence: Fence;
  /** How long one append may take before the queue counts as stalled. */
  readonly stallMs: number;
  /** Called once; a refusal is reported even after the queue was closed, because crashes are counted by refused fences. */
  readonly onFailure: (failure: AppendFailure) => void;
  readonly onAppended: (count: number) => void;
  /** Entries that may wait before `room` makes its caller wait. */
  readonly maxWaiting?: number;
}

export type Drained =
  /** All that was pushed is durable. `next`: after a finish, a run of the thread that waits. */
  { readonly ok: true; readonly next: string | undefined } | { readonly ok: false };

/** Appends one run's envelopes to the log in order: those that are ready while an append is in flight go with the next one. */
export interface AppendQueue {
  push(envelopes: readonly Envelope[]): void;
  /** The last push: the run ends in the commit that carries it. */
  finish(envelopes: readonly Envelope[], finish: Finish): void;
  /** `undefined` while the queue accepts entries; else resolves when it does, or when nothing more will be appended. */
  room(): Promise<void> | undefined;
  /** Resolves when nothing is in flight or waiting, or the queue is closed. */
  drained(): Promise<Drained>;
  /** Drops what waits. What is in flight may still arrive. */
  close(): void;
  /** Resolves when nothing is in flight; during an outage of the store that may be never. */
  landed(): Promise<void>;
}

const DEFAULT_MAX_WAITING = 512;

export function createAppendQueue(options: AppendQueueOptions): AppendQueue {
  const { log, clock, thread, fence, stallMs, maxWaiting = DEFAULT_MAX_WAITING } = options;
  const over = new AbortController();
  const closed = new Promise<void>((resolve) => {
    over.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  let waiting: Envelope[] = [];
  let end: Finish | undefined;
  let next: string | undefined;
  let flight: Promise<void> | undefined;
  let wake: (() => void)[] = [];

  function notifyWritable(): void {
    if (!over.signal.aborted && waiting.length >= maxWaiting) return;
    const woken = wake;
    wake = [];
    for (const resolve of woken) resolve();
  }

  function close(): void {
    over.abort();
    waiting = [];
    notifyWritable();
  }

  function fail(failure: AppendFailure): void {
    if (over.signal.aborted && failure.kind !== "refused") return;
    close();
    options.onFailure(failure);
  }

  async function appendAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      const finish = end;
      waiting = [];
      notifyWritable();
      const stall: Timer = clock.schedule(stallMs, () => fail({ kind: "stalled" }));
      try {
        const result = await log.append(thread, batch, fence, { finish, signal: over.signal });
        if (result.ok) {
          next = result.next;
          options.onAppended(batch.length);
        } else fail({ kind: "refused", reason: result.reason });
      } catch (error) {
        fail({ kind: "failed", error });
      } finally {
        stall.cancel();
      }
    }
    flight = undefined;
  }

  function push(envelopes: readonly Envelope[]): void {
    if (over.signal.aborted || envelopes.length === 0) return;
    waiting.push(...envelopes);
    flight ??= appendAll();
  }

  return {
    push,
    finish(envelopes, finish) {
      end = finish;
      push(envelopes);
    },
    room() {
      if (over.signal.aborted || waiting.length < maxWaiting) return undefined;
      return new Promise((resolve) => wake.push(resolve));
    },
    async drained() {
      while (flight && !over.signal.aborted) await Promise.race([flight, closed]);
      return over.signal.aborted ? { ok: false } : { ok: true, next };
    },
    close,
    async landed() {
      await flight;
    },
  };
}
