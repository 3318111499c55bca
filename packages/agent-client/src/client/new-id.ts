import { v7 } from "uuid";
import { isV7 } from "../commands/sync-order.js";

const MAX_SEQ = 2 ** 32 - 1;

interface Stamp {
  readonly msecs: number;
  /** Orders the ids of one millisecond. */
  readonly seq: number;
}

let last: Stamp = { msecs: 0, seq: 0 };

/**
 * A UUID of version 7: unique, greater than all that were made here before, in whatever order the clock shows them, and greater
 * than those of earlier milliseconds in other tabs. `after`: one that it must be greater than as well.
 */
export function newId(now: number, after?: string): string {
  const before = laterOf(last, stampOf(after));
  last = now > before.msecs ? { msecs: now, seq: randomSeq() } : next(before);
  return v7(last);
}

function next({ msecs, seq }: Stamp): Stamp {
  return seq < MAX_SEQ ? { msecs, seq: seq + 1 } : { msecs: msecs + 1, seq: randomSeq() };
}

/** In the lower half, so that it can be counted up. */
function randomSeq(): number {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
  return random >>> 1;
}

function laterOf(a: Stamp, b: Stamp | undefined): Stamp {
  if (!b || b.msecs < a.msecs) return a;
  return b.msecs > a.msecs || b.seq > a.seq ? b : a;
}

/** Of an id of version 7; anything else says no time. The counter is spread over twelve, fourteen and six bits. */
function stampOf(id: string | undefined): Stamp | undefined {
  if (id === undefined || !isV7(id)) return undefined;
  const bits = (from: number, to: number) => Number.parseInt(id.slice(from, to).replace("-", ""), 16);
  const seq = bits(15, 18) * 2 ** 20 + (bits(19, 23) & 0x3fff) * 2 ** 6 + (bits(24, 26) >>> 2);
  return { msecs: bits(0, 13), seq };
}
