/**
 * What this instance last sent to each thread, answered or not. Redis writes its file in order and a thread has one writer,
 * so if the last thing sent to it outlived a restart, everything before it did, and nobody has seen anything that is gone.
 */
export interface SentMarks {
  /** Call before sending. Returns what takes it back, for when the answer says that nothing was written. */
  sending(key: string, mark: string): () => void;
  /**
   * Whether a thread that ends with `mark` has lost nothing. What was sent last and is not there may have been seen; it may
   * only be sent again as it was, which puts the same entries in the same places.
   */
  isWhole(key: string, mark: string, sendingAgain?: string): boolean;
}

interface Sent {
  readonly mark: string;
  readonly before: string | undefined;
}

/** Forgets the threads that were written longest ago past `capacity`; a restart then counts as a loss for them. */
export function createSentMarks(capacity = 50_000): SentMarks {
  const threads = new Map<string, Sent>();
  const put = (key: string, sent: Sent | undefined) => {
    threads.delete(key);
    if (sent) threads.set(key, sent);
  };
  return {
    sending(key, mark) {
      const known = threads.get(key);
      if (known?.mark === mark) return () => {};
      put(key, { mark, before: known?.mark });
      const [oldest] = threads.keys();
      if (threads.size > capacity && oldest !== undefined) threads.delete(oldest);
      return () => put(key, known);
    },
    isWhole(key, mark, sendingAgain) {
      const sent = threads.get(key);
      return (
        sent !== undefined && (sent.mark === mark || (sent.mark === sendingAgain && sent.before === mark))
      );
    },
  };
}
