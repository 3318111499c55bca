/** One reader's line. */
export interface SseStream {
  /**
   * Whole frames, shared with other readers. Never waits. `false` when enough is waiting for this reader, and when nothing
   * can be written any more: it left, it was dropped for being too slow, or the stream was ended.
   */
  write(frames: readonly Buffer[]): boolean;
  /** Resolves when more may be written, and when it never will be. */
  drained(): Promise<void>;
  /** What was written still reaches the reader. */
  end(): void;
  /** Aborted when nothing more can be written, whatever the cause. */
  readonly closed: AbortSignal;
}

/** Calls back once the stream is closed: a reader may have left before anybody could listen. */
export function whenClosed({ closed }: SseStream, callback: () => void): void {
  if (closed.aborted) callback();
  else closed.addEventListener("abort", callback, { once: true });
}

export interface StreamLimits {
  /** Bytes that may wait for one reader before it is dropped, for each subscription that writes to it. */
  readonly highWaterBytes: number;
  readonly shares: number;
  readonly onDropped: () => void;
}

/** Of what may wait, how much is enough to ask for a pause: a reader that is caught up keeps well below the mark. */
export const PAUSE_SHARE = 0.25;

export function bytesOf(frames: readonly Buffer[]): number {
  let bytes = 0;
  for (const frame of frames) bytes += frame.byteLength;
  return bytes;
}
