import type { Json, ProjectionCodec } from "@throughline/ai-core";
import { applyEntry } from "./fold.js";
import type { ProjectedCall } from "./fold-call.js";
import { emptyThreadProjection, PROJECTION_VERSION, type ThreadProjection } from "./thread-fold.js";

/** The previous version is also read: during a deploy its instances may still write snapshots. */
const PREVIOUS_VERSION = 2;

export const threadProjectionCodec: ProjectionCodec<ThreadProjection> = {
  version: PROJECTION_VERSION,
  reads: [PROJECTION_VERSION, PREVIOUS_VERSION],
  empty: emptyThreadProjection,
  apply: (projection, entries) => entries.reduce(applyEntry, projection),
  encode: (projection) => projection as unknown as Json,
  decode(snapshot, version) {
    switch (version) {
      case PROJECTION_VERSION:
        return snapshot as unknown as ThreadProjection;
      case PREVIOUS_VERSION:
        return fromPrevious(snapshot as unknown as PreviousProjection);
      default:
        return undefined;
    }
  },
};

/** Version 2: runs were among the calls, and of a suspended subgraph only the call was known. */
type PreviousProjection = Omit<ThreadProjection, "runs" | "calls" | "suspended" | "checkpoints"> & {
  readonly calls: readonly ProjectedCall[];
  readonly suspended: readonly string[];
};

function fromPrevious(projection: PreviousProjection): ThreadProjection {
  const isRun = ({ kind }: ProjectedCall) => kind === "run";
  return {
    ...projection,
    runs: projection.calls.filter(isRun),
    calls: projection.calls.filter((call) => !isRun(call)),
    suspended: projection.suspended.map((call_id) => ({ call_id, checkpoint_id: null })),
    checkpoints: [],
  };
}
