import type { ConnectionStatus } from "../connection/connection.js";
import type { LogText, ThreadName } from "../service/service-port.js";
import type { EventText } from "../wire/event-parser.js";
import type { BrowserStream } from "./browser-stream.js";

/** Who shows a thread's log. */
export interface LogReader {
  /** All up to there is held; `undefined`: nothing. */
  cursor(): string | undefined;
  entries(entries: readonly LogText[]): void;
  statusChanged(status: ConnectionStatus): void;
}

/** Reads a thread's log until what it returns is called. */
export function openLog(stream: BrowserStream, thread: ThreadName, reader: LogReader): () => void {
  const subscription = stream.subscribe({
    thread: { ...thread, view: "envelopes" },
    begin: () => reader.cursor(),
    events: (events) => reader.entries(events.filter(isEntry)),
    end() {},
    statusChanged: () => reader.statusChanged(subscription.status()),
  });
  return () => subscription.leave();
}

function isEntry(event: EventText): event is LogText {
  return event.id !== undefined;
}
