import type { FoldPort, LogPosition } from "@throughline/ai-core";
import type { Deleted, Gap, ThreadLog } from "../port/thread-log.js";
import type { ThreadRef } from "../port/thread-ref.js";

export interface Folded<State> {
  readonly kind: "folded";
  readonly state: State;
  /** What the state includes; `undefined` when the thread does not exist. */
  readonly position: LogPosition | undefined;
}

const ENTRIES_PER_READ = 1_000;

/**
 * What the thread has become: the newest snapshot this fold can read, and what was appended since. Costs the snapshot plus
 * at most the entries between two snapshots, however long the thread. A gap means that only the checkpoint can tell (R20).
 */
export async function readFold<State>(
  log: Pick<ThreadLog, "read" | "snapshot">,
  fold: FoldPort<State>,
  thread: ThreadRef,
): Promise<Folded<State> | Gap | Deleted> {
  const snapshot = await log.snapshot(thread, fold.reads);
  const decoded = snapshot && fold.decode(snapshot.state, snapshot.foldVersion);
  let state = decoded ?? fold.empty;
  let position = decoded === undefined ? undefined : snapshot?.position;
  for (;;) {
    const answer = await log.read(thread, position, ENTRIES_PER_READ);
    if (answer.kind !== "entries") return answer;
    state = fold.apply(state, answer.entries);
    position = answer.entries.at(-1) ?? position ?? answer.head;
    if (position === undefined || position.seq >= (answer.head?.seq ?? 0)) {
      return { kind: "folded", state, position: position && { epoch: position.epoch, seq: position.seq } };
    }
  }
}
