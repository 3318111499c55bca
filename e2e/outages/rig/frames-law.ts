import { isDeepStrictEqual } from "node:util";
import type { SseEvent } from "../../../packages/langgraph-server/src/testing/sse-events.js";

/** `n` of the cursor behind a full prelude (protocol 6.2): all frames of its entry are included. */
const WHOLE_ENTRY = 999_999_999;

interface Position {
  readonly epoch: string;
  readonly seq: number;
  readonly n: number;
}

/**
 * P43: what a viewer was told over all its connections, frame by frame against the run as a fresh reader gets it. The viewer
 * may begin with a full prelude, which stands for all frames up to its position. Gives the first difference in words.
 * `mayRenewEpoch`: a database that was promoted has new epochs (R19), for which a viewer gets one more full prelude each.
 */
export function firstDifference(
  connections: readonly (readonly SseEvent[])[],
  log: readonly SseEvent[],
  { mayRenewEpoch = false }: { readonly mayRenewEpoch?: boolean } = {},
): string | undefined {
  const expected = log.filter(({ id }) => id !== undefined);
  const told = connections.flat().filter(({ id }) => id !== undefined);
  let next = 0;
  let epoch: string | undefined;
  for (const frame of told) {
    const at = positionOf(frame);
    const isNewEpoch = epoch !== undefined && at.epoch !== epoch;
    if (isNewEpoch && !mayRenewEpoch) return `${frame.id} is of another epoch than ${epoch}`;
    if (at.n === WHOLE_ENTRY) {
      if (epoch !== undefined && !isNewEpoch) return `${frame.id} begins anew`;
      const last = expected[next - 1];
      if (last && positionOf(last).seq > at.seq) return `${frame.id} goes back behind ${last.id}`;
      while (isUpTo(expected[next], at.seq)) next += 1;
    } else {
      const wanted = expected[next];
      if (!wanted) return `${frame.id} is not in the log`;
      if (!isSameFrame(frame, wanted)) return `${describe(frame)} is told for ${describe(wanted)}`;
      next += 1;
    }
    ({ epoch } = at);
  }
  const missing = expected[next];
  return missing && `${describe(missing)} and ${expected.length - next - 1} more are not told`;
}

function isUpTo(frame: SseEvent | undefined, seq: number): boolean {
  return frame !== undefined && positionOf(frame).seq <= seq;
}

/** Epochs aside, which the caller has looked at. */
function isSameFrame(one: SseEvent, other: SseEvent): boolean {
  const [a, b] = [positionOf(one), positionOf(other)];
  return a.seq === b.seq && a.n === b.n && isDeepStrictEqual(one.data, other.data);
}

function positionOf({ id = "" }: SseEvent): Position {
  const [epoch = "", seq, n] = id.split(".");
  return { epoch, seq: Number(seq), n: Number(n) };
}

function describe({ id, data }: SseEvent): string {
  return `${id} ${JSON.stringify(data).slice(0, 200)}`;
}
