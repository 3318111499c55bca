import { createEventParser, type StreamEvent } from "./event-parser.js";

export interface EventStreamSink {
  /** Anything at all was read, heartbeats included. */
  heard(): void;
  /** All events of one read. */
  events(events: readonly StreamEvent[]): void;
}

/** Reads an event stream to its end. Rejects when the connection breaks. */
export async function readEventStream(
  body: ReadableStream<Uint8Array>,
  sink: EventStreamSink,
): Promise<void> {
  let read: StreamEvent[] = [];
  const parse = createEventParser((event) => read.push(event));
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    parse(decoder.decode(value, { stream: true }));
    sink.heard();
    if (read.length === 0) continue;
    const events = read;
    read = [];
    sink.events(events);
  }
}
