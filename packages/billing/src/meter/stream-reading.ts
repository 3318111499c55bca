const NEWLINE = 0x0a;
const DATA = Buffer.from("data:");
const DONE = "[DONE]";
/** Every other event only grows the answer, and is not parsed. */
const TELLING = [
  '"usage"',
  '"error"',
  '"message_stop"',
  '"response.completed"',
  '"response.incomplete"',
  '"response.failed"',
].map((text) => Buffer.from(text));
/** An event longer than this is given up on. */
const MAX_EVENT_BYTES = 32 * 1024 * 1024;

type Fields = Readonly<Record<string, unknown>>;

/** What a stream has said of its price so far. */
export interface StreamReading {
  /** The end mark was there: chat's `[DONE]`, `response.completed`, `message_stop`. */
  readonly ended: boolean;
  readonly failed: boolean;
  /** The fields of all `usage` objects, later ones over earlier. */
  readonly usage: Fields | undefined;
  readonly responseId: string | null;
  push(chunk: Uint8Array): void;
}

/**
 * Reads the server-sent events of the chat, responses and messages APIs as their bytes pass. Costs one search for line ends
 * and one for the few events that tell a price; only those, and the first, are decoded. A chunk's bytes are copied only where
 * an event is cut between two chunks.
 */
export function createStreamReading(): StreamReading {
  let rest: Buffer | undefined;
  let ended = false;
  let failed = false;
  let usage: Fields | undefined;
  let responseId: string | null = null;

  function readLine(line: Buffer): void {
    if (line.indexOf(DATA) !== 0) return;
    const data = line.subarray(DATA.length);
    if (data.length < 16 && data.toString().trim() === DONE) {
      ended = true;
      return;
    }
    if (responseId !== null && !TELLING.some((text) => data.includes(text))) return;
    const event = parse(data.toString());
    if (event) readEvent(event);
  }

  function readEvent(event: Fields): void {
    const inner = fieldsOf(event.response) ?? fieldsOf(event.message);
    const id = event.id ?? inner?.id;
    if (typeof id === "string") responseId ??= id;
    const told = fieldsOf(event.usage) ?? fieldsOf(inner?.usage);
    if (told) usage = { ...usage, ...told };
    if (fieldsOf(event.error) || event.type === "error" || event.type === "response.failed") failed = true;
    if (
      event.type === "message_stop" ||
      event.type === "response.completed" ||
      event.type === "response.incomplete"
    ) {
      ended = true;
    }
  }

  return {
    get ended() {
      return ended;
    },
    get failed() {
      return failed;
    },
    get usage() {
      return usage;
    },
    get responseId() {
      return responseId;
    },
    push(chunk) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      let start = 0;
      for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
        const line = bytes.subarray(start, end);
        readLine(rest ? Buffer.concat([rest, line]) : line);
        rest = undefined;
        start = end + 1;
      }
      if (start === bytes.length) return;
      const tail = bytes.subarray(start);
      rest = rest ? Buffer.concat([rest, tail]) : Buffer.from(tail);
      if (rest.length > MAX_EVENT_BYTES) rest = Buffer.alloc(0);
    },
  };
}

function parse(text: string): Fields | undefined {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : undefined;
}
