import { v7 } from "uuid";
import type { Scheduler } from "./scheduler-state.js";

/** Of the newest id: its millisecond, and the counter that orders the ids of one millisecond. */
let last = { msecs: 0, seq: 0 };

/**
 * A UUID of version 7: unique, greater than all that were made here before, in whatever order the clock shows them, and greater
 * than those of earlier milliseconds in other tabs. `after`: one that it must be greater than as well.
 */
export function newId(now: number, after = ""): string {
  const msecs = Math.max(now, last.msecs, isV7(after) ? msecsOf(after) + 1 : 0);
  last = { msecs, seq: msecs === last.msecs ? last.seq + 1 : 0 };
  return v7(last);
}

/** Its first twelve digits. */
function msecsOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Whether it is a UUID of version 7, which sorts by when it was made. */
function isV7(id: string): boolean {
  return V7.test(id);
}

/** Whether `a` was made after `b`. Ids of one kind sort by when they were made; between two kinds nothing is known. */
export function isNewer(a: string, b: string): boolean {
  return a > b && isV7(a) === isV7(b);
}

/** The newest `sync` that is known of the thread, however far it has come, if it is newer than this one. */
export function newerSync(
  { sync, sent, unconfirmed, lastConfirmed }: Scheduler,
  id: string,
): string | undefined {
  const sending = sent?.command.kind === "sync" ? sent.command.id : undefined;
  return [sync?.id, sending, unconfirmed?.id, lastConfirmed]
    .filter((known) => known !== undefined && isNewer(known, id))
    .toSorted()
    .at(-1);
}
