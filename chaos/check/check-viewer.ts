import { type Finding, type FindingKind, type Frame, type ViewerHistory, WHOLE_ENTRY } from "./history.js";

type Difference = Pick<Finding, "kind" | "words">;

/**
 * The first way in which a viewer's frames are not the log: each of its frames once and in order, over all connections. A gap is
 * allowed only where the epoch changes: then the view begins anew, with a full prelude or with the log from its first entry.
 */
export function viewerDifference(viewer: ViewerHistory, log: readonly Frame[]): Difference | undefined {
  const told = viewer.connections.flat();
  const { leftAt = Number.POSITIVE_INFINITY } = viewer;
  let next = 0;
  let epoch: string | undefined;
  for (const [index, frame] of told.entries()) {
    const isNewEpoch = frame.epoch !== epoch;
    if (frame.n === WHOLE_ENTRY) {
      if (!isNewEpoch && !isRenewing(told[index + 1] ?? log.at(-1), frame))
        return found("doubled", `a full prelude at ${place(frame)} within one epoch`);
      next = countUpTo(log, frame.seq);
    } else {
      if (isNewEpoch && epoch !== undefined && viewer.view === "envelopes") next = 0;
      const wanted = log[next];
      if (!wanted || !isSamePlace(frame, wanted))
        return misplaced(frame, { log, next, rest: told.slice(index) });
      if (frame.text !== wanted.text) return found("altered", `${place(frame)} ${contrast(frame, wanted)}`);
      next += 1;
    }
    epoch = frame.epoch;
  }
  const missing = log[next];
  if (!missing || missing.seq > leftAt) return undefined;
  const reached = told.at(-1);
  const words = `stopped at ${reached ? place(reached) : "nothing"}; ${place(missing)} and ${log.length - next - 1} more never came`;
  return found("hung", words);
}

interface Moment {
  readonly log: readonly Frame[];
  /** Index of the log's frame that should have come. */
  readonly next: number;
  /** The frame and all that the viewer was told after it. */
  readonly rest: readonly Frame[];
}

function misplaced(frame: Frame, { log, next, rest }: Moment): Difference {
  const at = log.findIndex((each) => isSamePlace(each, frame));
  const wanted = log[next];
  if (at < 0) return found("altered", `${place(frame)} is not in the log`);
  if (at < next) return found("doubled", `${place(frame)} came again`);
  const comesLater = wanted !== undefined && rest.some((each) => isSamePlace(each, wanted));
  const instead = `${place(frame)} came where ${wanted ? place(wanted) : "nothing"} was due`;
  return comesLater ? found("disordered", instead) : found("lost", `${instead}, which never came`);
}

/**
 * An instance that has not heard of the new epoch yet finds that it can't go on, and what comes next is of that epoch: a prelude, or,
 * for a viewer that left before, the log itself.
 */
function isRenewing(next: Frame | undefined, { epoch }: Frame): boolean {
  return next !== undefined && next.epoch !== epoch;
}

function countUpTo(log: readonly Frame[], seq: number): number {
  const index = log.findIndex((frame) => frame.seq > seq);
  return index < 0 ? log.length : index;
}

/** Epochs aside: a promoted database gives the same entries a new one. */
function isSamePlace(one: Frame, other: Frame): boolean {
  return one.seq === other.seq && one.n === other.n;
}

/** Both texts from a little before they part. */
function contrast({ text }: Frame, wanted: Frame): string {
  const differ = [...text].findIndex((letter, index) => letter !== wanted.text[index]);
  const from = Math.max(0, (differ < 0 ? text.length : differ) - 40);
  const part = (whole: string) => `…${whole.slice(from, from + 120)}…`;
  return `says ${part(text)}, the log ${part(wanted.text)}`;
}

function place({ epoch, seq, n }: Frame): string {
  return `${epoch.slice(0, 8)}.${seq}.${n === WHOLE_ENTRY ? "all" : n}`;
}

function found(kind: FindingKind, words: string): Difference {
  return { kind, words };
}
