import type { AgentFrame } from "../wire/agent-event.js";
import type { EventText } from "../wire/event-parser.js";

/** Frames as a stream brings them. */
export function textsOf(frames: readonly AgentFrame[]): readonly EventText[] {
  return frames.map(({ id, event }) => ({ id, data: JSON.stringify(event) }));
}
