import { v7 as uuidv7 } from "uuid";
import type { Clock } from "../clock/clock.js";

/** Sorts by creation time, which keeps a run table's index local. Order of events comes from the log, never from this. */
export function newRunId(clock: Clock): string {
  return uuidv7({ msecs: clock.now() });
}
