import type { SseText } from "../transport/event-stream.js";
import type { AgUiFrame } from "../wire/agent-event.js";

/** Frames as a stream brings them. */
export function textsOf(frames: readonly AgUiFrame[]): readonly SseText[] {
  return frames.map(({ id, event }) => ({ id, data: JSON.stringify(event) }));
}
