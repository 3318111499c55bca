import type { ServerResponse } from "node:http";
import { bytesOf, PAUSE_SHARE, type SseStream, type StreamLimits } from "./sse-stream.js";

/** Opens a stream on Node's response: no copy, no queue of our own, and its `close` fires however the reader left. */
export function openNodeStream(
  response: ServerResponse,
  headers: Headers,
  { highWaterBytes, shares, onDropped }: StreamLimits,
): SseStream {
  const closing = new AbortController();
  const pauseBytes = highWaterBytes * PAUSE_SHARE;
  const allBytes = highWaterBytes * shares;
  // A history larger than the mark is not the reader's fault: it gets that much more until it has drained.
  let mark = allBytes;
  let wakes: (() => void)[] = [];

  function wake(): void {
    const waiting = wakes;
    wakes = [];
    for (const resolve of waiting) resolve();
  }
  function close(): void {
    closing.abort();
    wake();
  }

  response.writeHead(200, Object.fromEntries(headers));
  response.flushHeaders();
  response.on("drain", () => {
    mark = allBytes;
    wake();
  });
  response.once("close", close);
  // A reset by the reader needs no handling: `close` follows.
  response.on("error", () => {});
  if (response.destroyed) close();

  return {
    closed: closing.signal,
    write(frames) {
      if (closing.signal.aborted || response.destroyed) return false;
      if (response.writableLength > mark) {
        onDropped();
        response.destroy();
        close();
        return false;
      }
      const bytes = bytesOf(frames);
      if (bytes > highWaterBytes) mark = allBytes + response.writableLength + bytes;
      const [only] = frames;
      if (frames.length === 1 && only) response.write(only);
      else {
        response.cork();
        for (const frame of frames) response.write(frame);
        response.uncork();
      }
      return response.writableLength <= pauseBytes;
    },
    drained() {
      if (closing.signal.aborted || response.writableLength <= pauseBytes) return Promise.resolve();
      return new Promise((resolve) => wakes.push(resolve));
    },
    end() {
      if (closing.signal.aborted) return;
      response.end();
      close();
    },
  };
}

const CHUNK_BYTES = 16_384;

/** Opens a stream as a web stream, for runtimes without a Node response. The bound counts bytes that the reader has not read. */
export function openFetchStream(
  signal: AbortSignal,
  { highWaterBytes, shares, onDropped }: StreamLimits,
): { readonly stream: SseStream; readonly body: ReadableStream<Uint8Array> } {
  const closing = new AbortController();
  const pauseBytes = highWaterBytes * PAUSE_SHARE;
  const allBytes = highWaterBytes * shares;
  let waiting: Buffer[] = [];
  let sent = 0;
  let waitingBytes = 0;
  let mark = allBytes;
  let ended = false;
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let wakes: (() => void)[] = [];

  function wake(): void {
    const resolvers = wakes;
    wakes = [];
    for (const resolve of resolvers) resolve();
  }

  function drain(): void {
    // `enqueue` may call back in here, so the index moves before the frame is handed over.
    while (controller && sent < waiting.length && (controller.desiredSize ?? 0) > 0) {
      const frame = waiting[sent];
      sent += 1;
      if (!frame) continue;
      waitingBytes -= frame.byteLength;
      controller.enqueue(frame);
    }
    if (sent === waiting.length) {
      waiting = [];
      sent = 0;
    }
    if (waitingBytes <= pauseBytes) wake();
    if (waiting.length > 0) return;
    mark = allBytes;
    if (!ended) return;
    controller?.close();
    controller = undefined;
  }

  /** Drops what waits: the reader left, or is too slow to be waited for. */
  function abandon(): void {
    waiting = [];
    sent = 0;
    waitingBytes = 0;
    ended = true;
    closing.abort();
    // Closing, not failing: a runtime prints a stack for each stream that fails.
    drain();
  }

  const body = new ReadableStream<Uint8Array>(
    {
      start(opened) {
        controller = opened;
      },
      pull: drain,
      cancel() {
        controller = undefined;
        abandon();
      },
    },
    { highWaterMark: CHUNK_BYTES, size: (chunk) => chunk?.byteLength ?? 0 },
  );
  signal.addEventListener("abort", abandon, { once: true });
  if (signal.aborted) abandon();

  const stream: SseStream = {
    closed: closing.signal,
    write(frames) {
      if (closing.signal.aborted) return false;
      if (waitingBytes > mark) {
        onDropped();
        abandon();
        return false;
      }
      const bytes = bytesOf(frames);
      if (bytes > highWaterBytes) mark = allBytes + waitingBytes + bytes;
      waiting.push(...frames);
      waitingBytes += bytes;
      drain();
      return waitingBytes <= pauseBytes;
    },
    drained() {
      if (closing.signal.aborted || waitingBytes <= pauseBytes) return Promise.resolve();
      return new Promise((resolve) => wakes.push(resolve));
    },
    end() {
      if (closing.signal.aborted) return;
      ended = true;
      closing.abort();
      drain();
    },
  };
  return { stream, body };
}
