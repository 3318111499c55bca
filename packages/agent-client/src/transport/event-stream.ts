/** An event as unparsed text: its reader parses it. */
export interface SseText {
  readonly id: string | undefined;
  readonly data: string;
}

/** An event of an SSE stream. */
export interface StreamEvent extends SseText {
  readonly event: string | undefined;
}

/** Creates a parser that accepts the stream's text in pieces of any size. O(text): a line in several pieces is scanned once. */
export function createEventParser(onEvent: (event: StreamEvent) => void): (text: string) => void {
  let unfinished = "";
  let id: string | undefined;
  let event: string | undefined;
  let data: string | undefined;

  function parseLine(line: string): void {
    if (line === "") {
      if (data !== undefined) onEvent({ id, event: event || undefined, data });
      id = undefined;
      event = undefined;
      data = undefined;
      return;
    }
    const added = valueIn("data", line);
    if (added !== undefined) {
      data = data === undefined ? added : `${data}\n${added}`;
      return;
    }
    event = valueIn("event", line) ?? event;
    const named = valueIn("id", line);
    // By the standard, such an id is ignored.
    if (named !== undefined && !named.includes("\0")) id = named;
  }

  return (piece) => {
    let text = unfinished + piece;
    let from = 0;
    if (piece.includes("\n") || piece.includes("\r")) {
      // A trailing CR may be half of a line end: it waits for the other half.
      const to = text.endsWith("\r") ? text.length - 1 : text.length;
      if (text.includes("\r")) text = text.slice(0, to).replaceAll(/\r\n?/g, "\n") + text.slice(to);
      for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
        parseLine(text.slice(from, end));
        from = end + 1;
      }
    }
    unfinished = text.slice(from);
  };
}

function valueIn(field: string, line: string): string | undefined {
  if (!line.startsWith(field)) return undefined;
  if (line.length === field.length) return "";
  if (line[field.length] !== ":") return undefined;
  return line.slice(field.length + (line[field.length + 1] === " " ? 2 : 1));
}

export interface EventStreamSink {
  /** Any bytes were received, heartbeats included. */
  received(): void;
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
    sink.received();
    if (read.length === 0) continue;
    const events = read;
    read = [];
    sink.events(events);
  }
}
