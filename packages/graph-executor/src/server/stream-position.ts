import { createServerEventReader, read, readArray, readString } from "@throughline/coerce";
import type { ServerEvent } from "./client.js";

/** The newest event's indication of the run's end. The server itself closes the stream half a second after the last event. */
export type EndSign =
  | { readonly kind: "none" }
  /** `onInput`: the graph was there and no task of it had begun, so it failed on its input. */
  | { readonly kind: "error"; readonly onInput: boolean; readonly name: string; readonly message: string }
  | { readonly kind: "interrupt" }
  /** The last event, if the thread's newest checkpoint is this one. Not every server names it. */
  | { readonly kind: "values"; readonly checkpointId: string | undefined };

export interface EndSigns {
  readonly current: EndSign;
  push(event: ServerEvent): void;
}

const NONE: EndSign = { kind: "none" };

/**
 * A superstep of the root ends with its tasks' results, a `checkpoints` envelope and `values`; one that asks a person ends
 * with `values` and then the results of its tasks; a failure ends with `error`. In `events` the end of the graph's own run
 * follows.
 */
export function createEndSigns(): EndSigns {
  const open = new Set<string>();
  let begun = false;
  let anyTask = false;
  let checkpointId: string | undefined;
  let current: EndSign = NONE;

  const readEvent = createServerEventReader();

  function signOf(event: ServerEvent): EndSign {
    const { ns, mode, data } = readEvent(event.event, event.data);
    // Sent once the graph is loaded: without it, loading was what failed.
    if (mode === "metadata") begun = true;
    if (mode === "error")
      return {
        kind: "error",
        onInput: begun && !anyTask,
        name: readString(data, "error") ?? "Error",
        message: readString(data, "message") ?? "",
      };
    if (ns.length > 0) return NONE;
    if (mode === "events") return signOfEvent(data);
    if (mode === "checkpoints") checkpointId = readString(data, "id");
    if (mode === "values" && open.size === 0) return { kind: "values", checkpointId };
    if (mode !== "tasks" || typeof data !== "object" || data === null) return NONE;
    anyTask = true;
    const id = readString(data, "id") ?? "";
    if (!("result" in data)) open.add(id);
    else if (open.delete(id) && open.size === 0 && readArray(data, "interrupts").length > 0) {
      return { kind: "interrupt" };
    }
    return NONE;
  }

  function signOfEvent(data: unknown): EndSign {
    if (readString(read(data, "metadata"), "langgraph_node") !== undefined) {
      anyTask = true;
      return NONE;
    }
    if (readString(data, "event") !== "on_chain_end") return NONE;
    return current.kind === "interrupt" ? current : { kind: "values", checkpointId };
  }

  return {
    get current() {
      return current;
    },
    push(event) {
      current = signOf(event);
    },
  };
}

export type Arrival =
  /** The next event of the log. */
  | "new"
  /** Read before. */
  | "known"
  /** The log we were reading is gone, and this is another one: the server was restarted, or it lost part of it. */
  | "other_log";

/**
 * A reader's position in a run's upstream log. On a reconnect it requests the last event it already holds once more: a
 * server that still has the log sends that very event at once, and one that was restarted can't.
 */
export interface LogPosition {
  /** Something was read. */
  readonly begun: boolean;
  /** The `Last-Event-ID` to join with; whatever arrives next belongs to a new connection. */
  rejoin(): string;
  arrive(event: ServerEvent): Arrival;
}

const FROM_THE_START = "-1";

/**
 * Python's in-memory server drops events that share their millisecond with the last one it replayed. They can't be had
 * back in order, but a log that has a few more events than were read is still the same log.
 */
const TWINS = 100;

export function createLogPosition(start = FROM_THE_START): LogPosition {
  let last: { readonly id: string; readonly data: unknown } | undefined;
  /** Ordinal of the last event in the log; `undefined` where ids are not counted. */
  let reached = ordinalOf(start);
  /** The id to rejoin at if ids are not counted, and the number of events read after it. */
  let before = { id: start, read: 0 };
  /** While a new connection repeats what was read: how many events it has brought. */
  let repeated: number | undefined;

  function isLast({ id, data }: ServerEvent): boolean {
    return last?.id === id && JSON.stringify(last?.data) === JSON.stringify(data);
  }

  /** Handles repeated events, which end with the event that proves it is the same log. */
  function repeat(event: ServerEvent, count: number): Arrival {
    repeated = count;
    const due = reached === undefined ? before.read : 1;
    if (count < due) return "known";
    if (isLast(event)) {
      repeated = undefined;
      return "known";
    }
    return reached === undefined && count < due + TWINS ? "known" : "other_log";
  }

  return {
    get begun() {
      return last !== undefined;
    },
    rejoin() {
      if (last === undefined) return start;
      repeated = 0;
      return reached === undefined ? before.id : String(reached - 1);
    },
    arrive(event) {
      const { id, data } = event;
      if (id === undefined) return "new";
      if (repeated !== undefined) return repeat(event, repeated + 1);
      const ordinal = ordinalOf(id);
      if (ordinal !== undefined && reached !== undefined) {
        // Asked to begin after an event that is yet to come, a server begins with whatever comes next.
        if (ordinal <= reached) return "known";
        if (ordinal > reached + 1) return "other_log";
      }
      reached = ordinal;
      // Ids made of time may repeat within a millisecond, so going on after one would skip its twins: the one before is safe.
      const isStep = last && isTimed(last.id) && isTimed(id) && last.id !== id;
      before = last && isStep ? { id: last.id, read: 1 } : { ...before, read: before.read + 1 };
      last = { id, data };
      return "new";
    },
  };
}

/** Ids of Redis streams, and of servers that imitate them: milliseconds and a number, in the log's order. */
function isTimed(id: string): boolean {
  return /^\d+-\d+$/.test(id);
}

function ordinalOf(id: string): number | undefined {
  return /^-?\d+$/.test(id) ? Number(id) : undefined;
}
