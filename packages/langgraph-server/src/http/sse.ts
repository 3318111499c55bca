import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Clock, systemClock, type Timer } from "@throughline/ai-core";
import { type SseStream, whenClosed } from "./sse-stream.js";
import { openFetchStream, openNodeStream } from "./sse-transports.js";

export interface SseWriterOptions {
  /** Bytes that may wait for one reader. Past that it is dropped and reconnects from its cursor. Default 1 MiB. */
  readonly highWaterBytes?: number;
  /** Default 5,000. */
  readonly heartbeatMs?: number;
  readonly clock?: Clock;
  readonly onOpened?: () => void;
  readonly onClosed?: () => void;
  readonly onDropped?: () => void;
}

/** The target of a response: Node's own, or a fetch `Response`. */
export interface ResponseTarget {
  readonly env: Partial<HttpBindings> | undefined;
  /** Headers that middleware has set; they are lost unless they are copied. */
  readonly headers: Headers;
  /** The signal is read only where there is no Node response: reading it builds the request in full. */
  readonly request: Pick<Request, "signal">;
  /** Number of subscriptions that write to the stream; each adds the capacity of a stream of its own. Default 1. */
  readonly shares?: number;
}

export interface SseWriter {
  open(target: ResponseTarget): { readonly stream: SseStream; readonly response: Response };
  readonly size: number;
  /** Ends every stream; a stream that is opened afterwards ends at once. */
  close(): void;
}

/** An SSE comment: readers skip it, and proxies see that the connection is alive. */
const HEARTBEAT = [Buffer.from(": hb\n\n")];

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  // Responses depend on the caller, and a proxy that gzips would hold events back.
  "cache-control": "private, no-cache, no-transform",
  "x-accel-buffering": "no",
};

/** The one writer of event streams. A frame is one Buffer shared by all subscribers, so a write costs what Node's own costs. */
export function createSseWriter(options: SseWriterOptions = {}): SseWriter {
  const { highWaterBytes = 1_048_576, heartbeatMs = 5_000, clock = systemClock } = options;
  const streams = new Set<SseStream>();
  let timer: Timer | undefined;
  let closed = false;

  function beat(): void {
    for (const stream of streams) stream.write(HEARTBEAT);
    timer = streams.size > 0 ? clock.schedule(heartbeatMs, beat) : undefined;
  }

  function add(stream: SseStream): void {
    streams.add(stream);
    options.onOpened?.();
    whenClosed(stream, () => {
      streams.delete(stream);
      options.onClosed?.();
      if (streams.size > 0) return;
      timer?.cancel();
      timer = undefined;
    });
    if (stream.closed.aborted) return;
    timer ??= clock.schedule(heartbeatMs, beat);
    if (closed) stream.end();
  }

  return {
    get size() {
      return streams.size;
    },
    open({ env, headers: before, request, shares = 1 }) {
      const headers = new Headers(before);
      for (const [name, value] of Object.entries(HEADERS)) headers.set(name, value);
      const limits = { highWaterBytes, shares, onDropped: options.onDropped ?? (() => {}) };
      if (env?.outgoing) {
        const stream = openNodeStream(env.outgoing, headers, limits);
        add(stream);
        return { stream, response: RESPONSE_ALREADY_SENT };
      }
      const { stream, body } = openFetchStream(request.signal, limits);
      add(stream);
      return { stream, response: new Response(body, { headers }) };
    },
    close() {
      closed = true;
      for (const stream of [...streams]) stream.end();
    },
  };
}

/**
 * Splits one stream between subscriptions: each gets its own stream, whose frames carry its name in SSE's `event` field.
 * The name is written before a frame's bytes and never into them, so the bytes remain shared by all subscribers (R8). The whole
 * stream ends when the last part has ended.
 */
export function splitStream(whole: SseStream, names: readonly string[]): SseStream[] {
  const open = new Set<AbortController>();
  whenClosed(whole, () => {
    for (const closing of open) closing.abort();
  });
  return names.map((name) => {
    const label = Buffer.from(`event: ${name}\n`);
    const closing = new AbortController();
    if (whole.closed.aborted) closing.abort();
    open.add(closing);
    return {
      closed: closing.signal,
      write: (frames) => !closing.signal.aborted && whole.write(frames.flatMap((frame) => [label, frame])),
      drained: () => (closing.signal.aborted ? Promise.resolve() : whole.drained()),
      end() {
        if (closing.signal.aborted) return;
        open.delete(closing);
        closing.abort();
        if (open.size === 0) whole.end();
      },
    };
  });
}
