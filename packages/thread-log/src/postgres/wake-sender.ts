/** Tells other instances of threads that changed, after the commit that changed them. */
export interface WakeSender {
  tell(tags: readonly string[]): void;
  /** After the connection was lost: sends what could not be sent. */
  resume(): void;
}

/**
 * One notification at a time: what is committed while one is on its way goes with the next. The first waits for the end of the
 * turn, so that the next commit is sent before it. Sent inside the commit it would
 * hold a lock of the whole cluster until the commit is on disk, so that all instances would write in turn.
 */
export function createWakeSender(send: (tags: readonly string[]) => Promise<void>): WakeSender {
  let waiting = new Set<string>();
  let isSending = false;

  async function pump(): Promise<void> {
    if (isSending) return;
    isSending = true;
    while (waiting.size > 0) {
      const tags = waiting;
      waiting = new Set();
      try {
        await send([...tags]);
      } catch {
        for (const tag of tags) waiting.add(tag);
        break;
      }
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
