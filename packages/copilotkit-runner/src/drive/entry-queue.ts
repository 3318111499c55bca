import type { Envelope, Fence } from "@throughline/ai-core";
import type { Finish, ThreadLog, ThreadRef } from "@throughline/thread-log";

export interface EntryQueueOptions {
  readonly log: Pick<ThreadLog, "append">;
  readonly thread: ThreadRef;
  readonly fence: Fence;
  /** Called once, when the log takes no more of this run: another instance has ended it, or the store refused an entry. */
  readonly onRefused: (error: unknown) => void;
}

/** One run's way into the log, in order: what comes while an append is in flight goes with the next one. */
export interface EntryQueue {
  push(envelopes: readonly Envelope[]): void;
  /** The last push: the run ends in the commit that carries it. */
  finish(envelopes: readonly Envelope[], finish: Finish): void;
  /** `undefined` while there is room; else resolves when what waits was taken. */
  room(): Promise<void> | undefined;
  /** Resolves when all that was pushed is durable, or never will be. */
  drained(): Promise<void>;
  /** Drops what waits. */
  close(): void;
}

/** An agent that is faster than the log is held back beyond this. */
const MAX_WAITING = 512;

export function createEntryQueue({ log, thread, fence, onRefused }: EntryQueueOptions): EntryQueue {
  const over = new AbortController();
  let waiting: Envelope[] = [];
  let end: Finish | undefined;
  let flight: Promise<void> | undefined;

  function close(): void {
    over.abort();
    waiting = [];
  }

  function refuse(error: unknown): void {
    if (over.signal.aborted) return;
    close();
    onRefused(error);
  }

  async function appendAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      const finish = end;
      waiting = [];
      try {
        const result = await log.append(thread, batch, fence, { finish, signal: over.signal });
        if (!result.ok) refuse(undefined);
      } catch (error) {
        refuse(error);
      }
    }
    flight = undefined;
  }

  function push(envelopes: readonly Envelope[]): void {
    if (over.signal.aborted) return;
    waiting.push(...envelopes);
    flight ??= appendAll();
  }

  return {
    push,
    finish(envelopes, finish) {
      end = finish;
      push(envelopes);
    },
    room: () => (waiting.length < MAX_WAITING ? undefined : flight),
    async drained() {
      await flight;
    },
    close,
  };
}
