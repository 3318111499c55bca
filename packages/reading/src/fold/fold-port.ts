import type { FoldPort, Json } from "@throughline/ai-core";
import { applyEntry } from "./fold.js";
import type { FoldCall } from "./fold-call.js";
import { emptyFold, FOLD_VERSION, type ThreadFold } from "./thread-fold.js";

/** Instances of the version before may still write during a deploy. */
const BEFORE = 2;

export const threadFoldPort: FoldPort<ThreadFold> = {
  version: FOLD_VERSION,
  reads: [FOLD_VERSION, BEFORE],
  empty: emptyFold,
  apply: (fold, entries) => entries.reduce(applyEntry, fold),
  encode: (fold) => fold as unknown as Json,
  decode(snapshot, version) {
    switch (version) {
      case FOLD_VERSION:
        return snapshot as unknown as ThreadFold;
      case BEFORE:
        return fromBefore(snapshot as unknown as FoldBefore);
      default:
        return undefined;
    }
  },
};

/** Version 2: runs stood among the calls, and of a subgraph that waits only its call was known. */
type FoldBefore = Omit<ThreadFold, "runs" | "calls" | "suspended" | "checkpoints"> & {
  readonly calls: readonly FoldCall[];
  readonly suspended: readonly string[];
};

function fromBefore(fold: FoldBefore): ThreadFold {
  const isRun = ({ kind }: FoldCall) => kind === "run";
  return {
    ...fold,
    runs: fold.calls.filter(isRun),
    calls: fold.calls.filter((call) => !isRun(call)),
    suspended: fold.suspended.map((call_id) => ({ call_id, checkpoint_id: null })),
    checkpoints: [],
  };
}
