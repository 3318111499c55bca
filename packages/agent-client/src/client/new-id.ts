import { isV7 } from "../commands/sync-order.js";

/** Where the counter of an id begins, and how far it goes. */
const COUNTER_AT = 24;
const COUNTERS = 2 ** 48;

let last = "";

/**
 * A UUID of version 7: unique, greater than all that were made here before, in whatever order the clock shows them, and greater
 * than those of earlier milliseconds in other tabs. `after`: one that it must be greater than as well.
 */
export function newId(now: number, after = ""): string {
  const before = isV7(after) && after > last ? after : last;
  last = now > timeOf(before) ? firstOf(now) : nextAfter(before);
  return last;
}

/**
 * By hand, for the `uuid` package's would cost every page 600 bytes and counts on its own clock: the time, and random bits of which the
 * last 48, with the first of them 0, are counted up within a millisecond (RFC 9562, 6.2, method 2).
 */
function firstOf(msecs: number): string {
  const [a = 0, b = 0, c = 0] = crypto.getRandomValues(new Uint32Array(3));
  const time = hex(msecs, 12);
  const variant = hex(0x8000 + (a & 0x3fff), 4);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(a >>> 20, 3)}-${variant}-${hex(b >>> 1, 8)}${hex(c >>> 16, 4)}`;
}

function nextAfter(id: string): string {
  const counter = Number.parseInt(id.slice(COUNTER_AT), 16) + 1;
  return counter < COUNTERS ? id.slice(0, COUNTER_AT) + hex(counter, 12) : firstOf(timeOf(id) + 1);
}

/** Of no id: before all time. */
function timeOf(id: string): number {
  return id === "" ? -1 : Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}
