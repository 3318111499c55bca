const DATA = "data:";
const DONE = "[DONE]";
/** Matches events that carry the price or the end. Every other one only extends the response, and is not parsed. */
const PRICE_OR_END = /\[DONE\]|"(?:usage|error|message_stop|response\.(?:completed|incomplete|failed))"/;
/** An event longer than this is skipped. */
const MAX_EVENT_LENGTH = 32 * 1024 * 1024;

type Fields = Readonly<Record<string, unknown>>;

/** Usage and price that a stream has reported so far. */
export interface StreamUsage {
  /** The end mark was there: chat's `[DONE]`, `response.completed`, `message_stop`. */
  readonly ended: boolean;
  readonly failed: boolean;
  /** The fields of all `usage` objects, later ones over earlier. */
  readonly usage: Fields | undefined;
  readonly responseId: string | null;
  push(chunk: Uint8Array): void;
}

/**
 * Reads the server-sent events of the chat, responses and messages APIs as their bytes pass. A chunk costs one search for
 * events that carry the price; only where it has one, and at the first, is it cut into lines and parsed. Bytes are searched
 * as Latin-1, which is one character each, and decoded when they are parsed.
 */
export function createStreamUsage(): StreamUsage {
  let rest = "";
  let ended = false;
  let failed = false;
  let usage: Fields | undefined;
  let responseId: string | null = null;

  function readLine(line: string): void {
    if (!line.startsWith(DATA)) return;
    const data = line.slice(DATA.length).trim();
    if (data === DONE) {
      ended = true;
      return;
    }
    if (responseId !== null && !PRICE_OR_END.test(data)) return;
    const event = parse(Buffer.from(data, "latin1").toString());
    if (event) readEvent(event);
  }

  function readEvent(event: Fields): void {
    const inner = fieldsOf(event.response) ?? fieldsOf(event.message);
    const id = event.id ?? inner?.id;
    if (typeof id === "string") responseId ??= id;
    const reported = fieldsOf(event.usage) ?? fieldsOf(inner?.usage);
    if (reported) usage = { ...usage, ...reported };
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
      const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString("latin1");
      const end = text.lastIndexOf("\n") + 1;
      if (end === 0) {
        rest = rest.length > MAX_EVENT_LENGTH ? "" : rest + text;
        return;
      }
      const lines = rest + text.slice(0, end);
      rest = text.slice(end);
      if (responseId !== null && !PRICE_OR_END.test(lines)) return;
      for (const line of lines.split("\n")) readLine(line);
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
