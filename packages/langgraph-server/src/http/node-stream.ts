import type { ServerResponse } from "node:http";
import { bytesOf, PAUSE_SHARE, type SseStream, type StreamLimits } from "./sse-stream.js";

/** Writes to Node's response itself: no copy, no queue of our own, and its `close` fires however the reader left. */
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
  // A reset by the reader is no news: `close` follows.
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
