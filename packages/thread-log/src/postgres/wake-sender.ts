import type { Clock } from "@throughline/ai-core";

/** Tells other instances of threads that changed, after the commit that changed them. */
export interface WakeSender {
  tell(tags: readonly string[]): void;
  /** After the connection was lost: sends what could not be sent. */
  resume(): void;
}

export interface WakeSenderOptions {
  readonly send: (tags: readonly string[]) => Promise<void>;
  readonly clock: Clock;
  /** The least time from one notification to the next. */
  readonly everyMs: number;
}

/**
 * One notification at a time: what is committed while one is on its way, or within `everyMs` of the last, goes with the next. A
 * notification costs each instance that listens a read, so under load all of them would do little else. The first waits for the end of
 * the turn, so that the next commit is sent before it. Sent inside the commit it would
 * hold a lock of the whole cluster until the commit is on disk, so that all instances would write in turn.
 */
export function createWakeSender({ send, clock, everyMs }: WakeSenderOptions): WakeSender {
  let waiting = new Set<string>();
  let isSending = false;

  async function pump(): Promise<void> {
    if (isSending) return;
    isSending = true;
    while (waiting.size > 0) {
      const tags = waiting;
      waiting = new Set();
      const sentAt = clock.now();
      try {
        await send([...tags]);
      } catch {
        for (const tag of tags) waiting.add(tag);
        break;
      }
      // Not longer, where the clock was put back meanwhile.
      await pause(clock, Math.min(everyMs, sentAt + everyMs - clock.now()));
    }
    isSending = false;
  }

  return {
    tell(tags) {
      for (const tag of tags) waiting.add(tag);
      if (!isSending) setImmediate(() => void pump());
    },
    resume: () => void pump(),
  };
}

function pause(clock: Clock, ms: number): Promise<void> | undefined {
  return ms <= 0 ? undefined : new Promise((resolve) => clock.schedule(ms, resolve));
}
