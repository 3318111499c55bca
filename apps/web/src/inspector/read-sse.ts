export interface SseMessage {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

/** The messages of an event stream, all of one read together. Ends with the stream; throws when the connection breaks. */
export async function* readSse(body: ReadableStream<Uint8Array>): AsyncGenerator<readonly SseMessage[]> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let fields = { id: undefined as string | undefined, event: "message", data: [] as string[] };
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      const messages: SseMessage[] = [];
      for (const raw of lines) {
        const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
        if (line !== "") {
          takeField(fields, line);
          continue;
        }
        if (fields.data.length > 0) messages.push({ ...fields, data: fields.data.join("\n") });
        fields = { id: undefined, event: "message", data: [] };
      }
      if (messages.length > 0) yield messages;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function takeField(fields: { id: string | undefined; event: string; data: string[] }, line: string): void {
  const colon = line.indexOf(":");
  // A comment: the service says that it is still there.
  if (colon === 0) return;
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
  if (name === "data") fields.data.push(value);
  else if (name === "id") fields.id = value;
  else if (name === "event") fields.event = value;
}
