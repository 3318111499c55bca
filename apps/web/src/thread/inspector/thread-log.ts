"use client";

import { type ConnectionStatus, type LogReader, type LogText, nextFrame } from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import type { Envelope } from "@throughline/ai-core";
import { useSyncExternalStore } from "react";

/** An entry as text: a log of many thousands would be twice as large with each of them parsed as well. */
export class LoggedEnvelope {
  constructor(
    readonly cursor: string,
    /** When it arrived here, in milliseconds. */
    readonly at: number,
    readonly type: Envelope["type"],
    /** As it came: what is searched, and what is copied. */
    readonly text: string,
  ) {}

  /** Parsed each time it is asked for. */
  get envelope(): Envelope {
    return JSON.parse(this.text);
  }
}

export type LogStatus = "closed" | "connecting" | "live" | "reconnecting" | "over";

export interface ThreadLogSnapshot {
  /** Only ever added to within one generation; a snapshot looks no further than its own `count`. */
  readonly entries: readonly LoggedEnvelope[];
  readonly count: number;
  /** Another one: what was there before is not the beginning of what is there now. */
  readonly generation: number;
  readonly status: LogStatus;
}

export interface ThreadLog {
  /** The log is read while it has a listener. */
  subscribe(listener: () => void): () => void;
  getSnapshot(): ThreadLogSnapshot;
}

export interface ThreadLogOptions {
  /** Of the thread's handle. */
  readonly readLog: (reader: LogReader) => () => void;
  readonly now?: () => number;
  readonly schedule?: (callback: () => void) => () => void;
}

const CLOSED_LOG: ThreadLogSnapshot = { entries: [], count: 0, generation: 0, status: "closed" };

const MAX_KEPT = 200_000;
const MAX_CHARACTERS = 64_000_000;

/** A thread's log as the service keeps it, from its beginning, then live. */
export function createThreadLog(options: ThreadLogOptions): ThreadLog {
  const { readLog, now = Date.now, schedule = nextFrame } = options;
  const listeners = new Set<() => void>();
  let entries: LoggedEnvelope[] = [];
  let characters = 0;
  let generation = 0;
  let status: LogStatus = "closed";
  let snapshot = CLOSED_LOG;
  let leave: (() => void) | undefined;
  let isTelling = false;

  function changed(): void {
    if (isTelling) return;
    isTelling = true;
    schedule(() => {
      isTelling = false;
      if (!leave) return;
      snapshot = { entries, count: entries.length, generation, status };
      for (const listener of [...listeners]) listener();
    });
  }

  function take({ id, data }: LogText): void {
    const place = cursorPlace(id);
    const last = cursorPlace(entries.at(-1)?.cursor);
    if (place && last) {
      if (place.epoch !== last.epoch) restart([]);
      else if (place.seq <= last.seq) return;
    }
    const type = typeOf(data);
    if (!type) return;
    const isFull = entries.length >= MAX_KEPT || characters + data.length > MAX_CHARACTERS;
    if (isFull) restart(entries.slice(Math.ceil(entries.length / 2)));
    entries.push(new LoggedEnvelope(id, now(), type, data));
    characters += data.length;
  }

  function restart(kept: LoggedEnvelope[]): void {
    entries = kept;
    characters = kept.reduce((sum, { text }) => sum + text.length, 0);
    generation += 1;
  }

  const reader: LogReader = {
    cursor: () => entries.at(-1)?.cursor,
    entries(told) {
      for (const entry of told) take(entry);
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
        // Effects that are undone and done again at once hold on to the log.
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

/** Checks the type alone: only entries of the service come here. */
function typeOf(data: string): Envelope["type"] | undefined {
  try {
    const envelope: Envelope | null = JSON.parse(data);
    return typeof envelope?.type === "string" ? envelope.type : undefined;
  } catch {
    return undefined;
  }
}

/** By thread, so that all who look at the same log at the same time share one reading of it. */
const logs = new WeakMap<object, ThreadLog>();

/** The thread's log, read while this is mounted. Renders with every frame in which something came. */
export function useThreadLog(): ThreadLogSnapshot {
  const handle = useThreadHandle();
  let log = logs.get(handle);
  if (!log) {
    log = createThreadLog({ readLog: handle.readLog });
    logs.set(handle, log);
  }
  return useSyncExternalStore(log.subscribe, log.getSnapshot, () => CLOSED_LOG);
}
export interface CursorPlace {
  readonly epoch: string;
  readonly seq: number;
}

/** Where in the log a cursor points, for showing it and for telling an entry that came twice. */
export function cursorPlace(cursor: string | undefined): CursorPlace | undefined {
  const [epoch, seq] = cursor?.split(".") ?? [];
  if (epoch === undefined || seq === undefined || !/^\d+$/.test(seq)) return undefined;
  return { epoch, seq: Number(seq) };
}
