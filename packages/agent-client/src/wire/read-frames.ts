import type { AgentEvent, AgentFrame } from "./agent-event.js";
import type { EventText } from "./event-parser.js";

/** Frames of events that came together. */
export function readFrames(events: readonly EventText[]): readonly AgentFrame[] {
  const frames: AgentFrame[] = [];
  for (const { id, data } of events) {
    const event = parseEvent(data);
    if (event) frames.push({ id, event });
  }
  return frames;
}

/** Checks the type alone: only frames of the service come here. */
function parseEvent(data: string): AgentEvent | undefined {
  try {
    const event: AgentEvent | null = JSON.parse(data);
    return typeof event?.type === "string" ? event : undefined;
  } catch {
    return undefined;
  }
}
