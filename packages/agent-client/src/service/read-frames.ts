import type { AgentEvent, AgentFrame } from "../wire/agent-event.js";
import { createEventParser } from "../wire/event-parser.js";
import type { StreamSink } from "./service-port.js";

/** Reads a stream to its end: all frames of one read go on together. Rejects when the connection breaks. */
export async function readFrames(
  body: ReadableStream<Uint8Array>,
  sink: Pick<StreamSink, "heard" | "frames">,
): Promise<void> {
  let frames: AgentFrame[] = [];
  const parse = createEventParser(({ id, data }) => {
    const event = parseEvent(data);
    if (event) frames.push(id === undefined ? { event } : { id, event });
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    parse(decoder.decode(value, { stream: true }));
    sink.heard();
    if (frames.length === 0) continue;
    const told = frames;
    frames = [];
    sink.frames(told);
  }
}

/** Only its type is looked at: the service's own frames, and nobody else's, come here. */
function parseEvent(data: string): AgentEvent | undefined {
  try {
    const event: AgentEvent | null = JSON.parse(data);
    return typeof event?.type === "string" ? event : undefined;
  } catch {
    return undefined;
  }
}
