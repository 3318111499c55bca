/** An event stream to one reader. */
export interface SseStream {
  /**
   * Writes whole frames, shared with other readers. Never waits. `false` when enough is waiting for this reader, and when nothing
   * can be written any more: the reader left, it was dropped for being too slow, or the stream was ended.
   */
  write(frames: readonly Buffer[]): boolean;
  /** Resolves when more may be written, and when the stream is closed. */
  drained(): Promise<void>;
  /** Ends the stream; frames written before still reach the reader. */
  end(): void;
  /** Aborted when nothing more can be written, whatever the cause. */
  readonly closed: AbortSignal;
}

/** Calls back once the stream is closed, also when it was closed before the call: a reader may leave early. */
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

/** The fraction of the high water mark at which a pause is requested: a reader that is caught up remains well below it. */
export const PAUSE_SHARE = 0.25;

export function bytesOf(frames: readonly Buffer[]): number {
  let bytes = 0;
  for (const frame of frames) bytes += frame.byteLength;
  return bytes;
}
