import type { ServerEvent } from "./server-event.js";

export type Arrival =
  /** The next event of the log. */
  | "new"
  /** Read before. */
  | "known"
  /** The log we were reading is gone, and this is another one: the server was restarted, or it lost part of it. */
  | "other_log";

/**
 * Where a reader stands in a run's upstream log. Coming back, it asks for the last event it already holds once more: a
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
  /** Place of the last event in the log; `undefined` where ids are not counted. */
  let reached = ordinalOf(start);
  /** Where to rejoin if ids are not counted, and how many events were read after it. */
  let before = { id: start, read: 0 };
  /** While a new connection repeats what was read: how many events it has brought. */
  let repeated: number | undefined;

  function isLast({ id, data }: ServerEvent): boolean {
    return last?.id === id && JSON.stringify(last?.data) === JSON.stringify(data);
  }

  /** What is read again ends with the event that proves it is the same log. */
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
