import type { Envelope, Fence } from "@throughline/ai-core";
import type { RefusalReason, ThreadLog, ThreadRef } from "@throughline/thread-log";

/** Why nothing more can be appended. */
export type AppendFailure =
  | { readonly kind: "refused"; readonly reason: RefusalReason }
  /** The store was away for longer than the log waits. */
  | { readonly kind: "failed"; readonly error: unknown };

export interface AppendQueueOptions {
  readonly log: Pick<ThreadLog, "append">;
  readonly thread: ThreadRef;
  readonly fence: Fence;
  /** Called once; a refusal is told also when the queue was closed by then, because it is what a fence is counted by. */
  readonly onFailure: (failure: AppendFailure) => void;
  readonly onAppended: (count: number) => void;
  /** Entries that may wait before `room` holds its caller back. */
  readonly maxWaiting?: number;
}

/** One run's way into the log, in order: what is ready while an append is in flight goes with the next one. */
export interface AppendQueue {
  push(envelopes: readonly Envelope[]): void;
  /** `undefined` while there is room; else resolves when there is, or when nothing more will be appended. */
  room(): Promise<void> | undefined;
  /** Resolves when nothing is in flight or waiting: `true` when all that was pushed is durable. */
  settled(): Promise<boolean>;
  /** Drops what waits. What is in flight may still arrive. */
  close(): void;
}

const DEFAULT_MAX_WAITING = 512;

export function createAppendQueue(options: AppendQueueOptions): AppendQueue {
  const { log, thread, fence, maxWaiting = DEFAULT_MAX_WAITING } = options;
  let waiting: Envelope[] = [];
  let flight: Promise<void> | undefined;
  let closed = false;
  let wake: (() => void)[] = [];

  function tellRoom(): void {
    if (!closed && waiting.length >= maxWaiting) return;
    const woken = wake;
    wake = [];
    for (const resolve of woken) resolve();
  }

  function close(): void {
    closed = true;
    waiting = [];
    tellRoom();
  }

  function fail(failure: AppendFailure): void {
    if (closed && failure.kind === "failed") return;
    close();
    options.onFailure(failure);
  }

  async function appendAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      tellRoom();
      try {
        const result = await log.append(thread, batch, fence);
        if (result.ok) options.onAppended(batch.length);
        else fail({ kind: "refused", reason: result.reason });
      } catch (error) {
        fail({ kind: "failed", error });
      }
    }
    flight = undefined;
  }

  return {
    push(envelopes) {
      if (closed || envelopes.length === 0) return;
      waiting.push(...envelopes);
      flight ??= appendAll();
    },
    room() {
      if (closed || waiting.length < maxWaiting) return undefined;
      return new Promise((resolve) => wake.push(resolve));
    },
    async settled() {
      while (flight) await flight;
      return !closed;
    },
    close,
  };
}
