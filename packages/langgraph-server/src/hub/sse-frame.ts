/** One server-sent event, before it is bytes. */
export interface SseFrame {
  readonly id?: string;
  readonly event?: string;
  /** JSON text: it holds no line end, so one `data:` line carries it. */
  readonly data: string;
}

/** What ends a field or a whole event, and what makes a browser drop an id. */
const UNSAFE = /[\r\n\0]/;

/** The one place that knows the framing. A line end in a field would let a client write frames of its own. */
export function encodeSseFrame({ id, event, data }: SseFrame): Buffer {
  let text = "";
  if (event !== undefined) text += `event: ${oneLine("event", event)}\n`;
  if (id !== undefined) text += `id: ${oneLine("id", id)}\n`;
  return Buffer.from(`${text}data: ${oneLine("data", data)}\n\n`);
}

function oneLine(field: string, value: string): string {
  if (!UNSAFE.test(value)) return value;
  throw new RangeError(`SSE ${field} must be one line, got ${JSON.stringify(value.slice(0, 80))}.`);
}
