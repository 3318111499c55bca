"use client";

import {
  type ConnectionStatus,
  type LogEntryText,
  type LogReader,
  nextAnimationFrame,
} from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import type { Envelope } from "@throughline/ai-core";
import { useSyncExternalStore } from "react";

/** A log entry stored as text: many thousands of them would take twice the memory if each were parsed as well. */
export class LoggedEnvelope {
  constructor(
    readonly cursor: string,
    /** Time of arrival in milliseconds. */
    readonly at: number,
    readonly type: Envelope["type"],
    /** The text as received, for search and copy. */
    readonly text: string,
  ) {}

  /** Parsed on each access. */
  get envelope(): Envelope {
    return JSON.parse(this.text);
  }
}

export type LogStatus = "closed" | "connecting" | "live" | "reconnecting" | "over";

export interface ThreadLogSnapshot {
  /** Append-only within one generation; a snapshot reads no further than its own `count`. */
  readonly entries: readonly LoggedEnvelope[];
  readonly count: number;
  /** Changes when the earlier entries are no longer a prefix of the current ones. */
  readonly generation: number;
  readonly status: LogStatus;
}

export interface ThreadLog {
  /** The log is read while it has a listener. */
  subscribe(listener: () => void): () => void;
  getSnapshot(): ThreadLogSnapshot;
}

export interface ThreadLogOptions {
  /** `readLog` of the thread's handle. */
  readonly readLog: (reader: LogReader) => () => void;
  readonly now?: () => number;
  readonly schedule?: (callback: () => void) => () => void;
}

const CLOSED_LOG: ThreadLogSnapshot = { entries: [], count: 0, generation: 0, status: "closed" };

const MAX_ENTRIES = 200_000;
const MAX_CHARACTERS = 64_000_000;

/** Reads a thread's log as the service stores it, from its beginning, then live. */
export function createThreadLog(options: ThreadLogOptions): ThreadLog {
  const { readLog, now = Date.now, schedule = nextAnimationFrame } = options;
  const listeners = new Set<() => void>();
  let entries: LoggedEnvelope[] = [];
  let characters = 0;
  let generation = 0;
  let status: LogStatus = "closed";
  let snapshot = CLOSED_LOG;
  let leave: (() => void) | undefined;
  let isNotifying = false;

  function changed(): void {
    if (isNotifying) return;
    isNotifying = true;
    schedule(() => {
      isNotifying = false;
      if (!leave) return;
      snapshot = { entries, count: entries.length, generation, status };
      for (const listener of [...listeners]) listener();
    });
  }

  function append({ id, data }: LogEntryText): void {
    const position = cursorPosition(id);
    const last = cursorPosition(entries.at(-1)?.cursor);
    if (position && last) {
      if (position.epoch !== last.epoch) restart([]);
      else if (position.seq <= last.seq) return;
    }
    const type = typeOf(data);
    if (!type) return;
    const isFull = entries.length >= MAX_ENTRIES || characters + data.length > MAX_CHARACTERS;
    if (isFull) restart(entries.slice(Math.ceil(entries.length / 2)));
    entries.push(new LoggedEnvelope(id, now(), type, data));
    characters += data.length;
  }

  function restart(retained: LoggedEnvelope[]): void {
    entries = retained;
    characters = retained.reduce((sum, { text }) => sum + text.length, 0);
    generation += 1;
  }

  const reader: LogReader = {
    cursor: () => entries.at(-1)?.cursor,
    entries(received) {
      for (const entry of received) append(entry);
      changed();
    },
    statusChanged(next) {
      status = statusOf(next);
      changed();
    },
  };

  return {
    getSnapshot: () => snapshot,
    subscribe(listener) {
      listeners.add(listener);
      if (!leave) {
        status = "connecting";
        leave = readLog(reader);
        changed();
      }
      return () => {
        listeners.delete(listener);
        // Deferred: effects that run twice, as in StrictMode, retain the log.
        setTimeout(() => {
          if (listeners.size > 0 || !leave) return;
          leave();
          leave = undefined;
          status = "closed";
          restart([]);
          snapshot = { ...CLOSED_LOG, generation };
        }, 0);
      };
    },
  };
}

function statusOf({ kind }: ConnectionStatus): LogStatus {
  switch (kind) {
    case "gap-repaired":
      return "live";
    case "failed":
      return "over";
    default:
      return kind;
  }
}

/** Checks the type only: all entries come from the service. */
function typeOf(data: string): Envelope["type"] | undefined {
  try {
    const envelope: Envelope | null = JSON.parse(data);
    return typeof envelope?.type === "string" ? envelope.type : undefined;
  } catch {
    return undefined;
  }
}

/** Logs by thread handle, so that concurrent consumers share one reader. */
const logs = new WeakMap<object, ThreadLog>();

/** Returns the thread's log, read while mounted. Renders with every animation frame in which entries arrived. */
export function useThreadLog(): ThreadLogSnapshot {
  const handle = useThreadHandle();
  let log = logs.get(handle);
  if (!log) {
    log = createThreadLog({ readLog: handle.readLog });
    logs.set(handle, log);
  }
  return useSyncExternalStore(log.subscribe, log.getSnapshot, () => CLOSED_LOG);
}
export interface CursorPosition {
  readonly epoch: string;
  readonly seq: number;
}

/** Parses a cursor's position in the log, for display and for detecting duplicates. */
export function cursorPosition(cursor: string | undefined): CursorPosition | undefined {
  const [epoch, seq] = cursor?.split(".") ?? [];
  if (epoch === undefined || seq === undefined || !/^\d+$/.test(seq)) return undefined;
  return { epoch, seq: Number(seq) };
}
