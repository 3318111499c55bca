import type { LogPosition } from "@throughline/ai-core";

const PATTERN = /^([A-Za-z0-9_-]{1,64})\.(\d{1,15})$/;

export function encodeCursor({ epoch, seq }: LogPosition): string {
  return `${epoch}.${seq}`;
}

/** `undefined` for what is no cursor of ours: its sender is told everything. */
function parseCursor(text: string): LogPosition | undefined {
  const [, epoch, seq] = PATTERN.exec(text) ?? [];
  return epoch === undefined || seq === undefined ? undefined : { epoch, seq: Number(seq) };
}

/** CopilotKit's runtime forwards `x-` headers; `Last-Event-ID` itself only where its `forwardHeaders` allows it. */
const HEADERS = ["last-event-id", "x-last-event-id"];

/** The position up to which a connecting client has read. */
export function cursorOf(headers: Readonly<Record<string, string>> | undefined): LogPosition | undefined {
  const sent = Object.entries(headers ?? {}).find(([name]) => HEADERS.includes(name.toLowerCase()));
  return sent && parseCursor(sent[1]);
}
