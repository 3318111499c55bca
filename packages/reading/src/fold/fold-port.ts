import type { FoldPort, Json } from "@throughline/ai-core";
import { applyEntry } from "./fold.js";
import type { FoldCall } from "./fold-call.js";
import { emptyFold, PROJECTION_VERSION, type ThreadFold } from "./thread-fold.js";

/** The previous version is also read: during a deploy its instances may still write snapshots. */
const PREVIOUS_VERSION = 2;

export const threadFoldPort: FoldPort<ThreadFold> = {
  version: PROJECTION_VERSION,
  reads: [PROJECTION_VERSION, PREVIOUS_VERSION],
  empty: emptyFold,
  apply: (projection, entries) => entries.reduce(applyEntry, projection),
  encode: (projection) => projection as unknown as Json,
  decode(snapshot, version) {
    switch (version) {
      case PROJECTION_VERSION:
        return snapshot as unknown as ThreadFold;
      case PREVIOUS_VERSION:
        return fromPrevious(snapshot as unknown as PreviousProjection);
      default:
        return undefined;
    }
  },
};

/** Version 2: runs were among the calls, and of a suspended subgraph only the call was known. */
type PreviousProjection = Omit<ThreadFold, "runs" | "calls" | "suspended" | "checkpoints"> & {
  readonly calls: readonly FoldCall[];
  readonly suspended: readonly string[];
};

function fromPrevious(projection: PreviousProjection): ThreadFold {
  const isRun = ({ kind }: FoldCall) => kind === "run";
  return {
    ...projection,
    runs: projection.calls.filter(isRun),
    calls: projection.calls.filter((call) => !isRun(call)),
    suspended: projection.suspended.map((call_id) => ({ call_id, checkpoint_id: null })),
    checkpoints: [],
  };
}
