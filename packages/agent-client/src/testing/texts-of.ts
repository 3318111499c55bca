import type { EventText } from "../transport/event-stream.js";
import type { AgentFrame } from "../wire/agent-event.js";

/** Frames as a stream brings them. */
export function textsOf(frames: readonly AgentFrame[]): readonly EventText[] {
  return frames.map(({ id, event }) => ({ id, data: JSON.stringify(event) }));
}
