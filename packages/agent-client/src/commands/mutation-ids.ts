import { v7 } from "uuid";
import type { SchedulerState } from "./scheduler-state.js";

/** The newest id: its millisecond, and the counter that orders the ids of one millisecond. */
let last = { msecs: 0, seq: 0 };

/**
 * Creates a UUIDv7 that is greater than all that were created here before, even if the clock was set back, and greater than those
 * of earlier milliseconds in other tabs. `after`: an id that it must be greater than as well.
 */
export function newId(now: number, after = ""): string {
  const msecs = Math.max(now, last.msecs, isV7(after) ? msecsOf(after) + 1 : 0);
  last = { msecs, seq: msecs === last.msecs ? last.seq + 1 : 0 };
  return v7(last);
}

/** The time of an id: its first twelve digits. */
function msecsOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Whether the id is a UUIDv7, which sorts by creation time. */
function isV7(id: string): boolean {
  return V7.test(id);
}

/** Whether `a` was created after `b`. Ids of one kind sort by creation time; between two kinds the order is not known. */
export function isNewer(a: string, b: string): boolean {
  return a > b && isV7(a) === isV7(b);
}

/** Returns the newest known `sync` of the thread, in any phase, if it is newer than this one. */
export function newerSync(
  { sync, sent, unconfirmed, lastConfirmed }: SchedulerState,
  id: string,
): string | undefined {
  const sending = sent?.command.kind === "sync" ? sent.command.id : undefined;
  return [sync?.id, sending, unconfirmed?.id, lastConfirmed]
    .filter((known) => known !== undefined && isNewer(known, id))
    .toSorted()
    .at(-1);
}
