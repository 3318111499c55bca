import { v7 } from "uuid";
import { isV7 } from "../commands/sync-order.js";

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
