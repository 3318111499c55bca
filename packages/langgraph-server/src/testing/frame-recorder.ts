import { createParser } from "eventsource-parser";
import type { FrameSink, SubscriptionEnd } from "../streams/stream-types.js";

export interface RecordedFrame {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: { readonly type: string; readonly [key: string]: unknown };
}

/** A reader that keeps up, and remembers. */
export interface FrameRecorder extends FrameSink {
  readonly frames: readonly RecordedFrame[];
  /** Types in order, which is what most tests are about. */
  types(): readonly string[];
  readonly ended: Promise<SubscriptionEnd>;
  /** Resolves with the first frame, past or to come, that matches. */
  frame(matches: (frame: RecordedFrame) => boolean): Promise<RecordedFrame>;
  /** The text of assistant messages as a reader of deltas would show it, by message id. */
  text(): string;
}

export function recordFrames(): FrameRecorder {
  const frames: RecordedFrame[] = [];
  const waiting = new Set<{
    matches: (frame: RecordedFrame) => boolean;
    resolve: (frame: RecordedFrame) => void;
  }>();
  let resolveEnd: (end: SubscriptionEnd) => void = () => {};
  const ended = new Promise<SubscriptionEnd>((resolve) => {
    resolveEnd = resolve;
  });
  const parser = createParser({
    onEvent({ id, event, data }) {
      const frame: RecordedFrame = { id, event, data: JSON.parse(data) };
      frames.push(frame);
      for (const waiter of waiting) {
        if (!waiter.matches(frame)) continue;
        waiting.delete(waiter);
        waiter.resolve(frame);
      }
    },
  });
  return {
    frames,
    ended,
    types: () => frames.map((frame) => frame.data.type),
    frame(matches) {
      const past = frames.find(matches);
      if (past) return Promise.resolve(past);
      return new Promise((resolve) => waiting.add({ matches, resolve }));
    },
    text: () =>
      frames
        .filter((frame) => frame.data.type === "TEXT_MESSAGE_CONTENT")
        .map((frame) => String(frame.data.delta))
        .join(""),
    write(buffers) {
      for (const buffer of buffers) parser.feed(buffer.toString());
      return true;
    },
    drained: () => Promise.resolve(),
    end: resolveEnd,
  };
}

export const ofType =
  (type: string) =>
  (frame: RecordedFrame): boolean =>
    frame.data.type === type;
