import { type SseStream, whenClosed } from "./sse-stream.js";

/**
 * Splits one stream between subscriptions: each gets a stream of its own whose frames carry its name in SSE's `event` field.
 * The name is written before a frame's bytes and never into them, so that these stay shared by all subscribers (R8). The whole
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
