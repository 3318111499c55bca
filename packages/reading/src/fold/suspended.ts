import type { CallStatus, Interrupt } from "@throughline/ai-core";
import type { Suspended, ThreadProjection } from "./thread-fold.js";

/** More than a superstep has in practice; older ones are dropped. */
const MAX_SUSPENDED = 100;

/** Records a subgraph's newest checkpoint. */
export function withCheckpoint(
  projection: ThreadProjection,
  callId: string,
  checkpointId: string,
): ThreadProjection {
  const newest: Suspended = { call_id: callId, checkpoint_id: checkpointId };
  return {
    ...projection,
    checkpoints: [...without(projection.checkpoints, callId), newest].slice(-MAX_SUSPENDED),
  };
}

/** Records the end of a subgraph: an interrupted one is suspended until the interrupt response. */
export function afterSubgraph(
  { suspended, checkpoints }: ThreadProjection,
  callId: string,
  status: CallStatus,
): readonly Suspended[] {
  if (status !== "interrupted") return suspended;
  const last = checkpoints.find(({ call_id }) => call_id === callId)?.checkpoint_id ?? null;
  return [...without(suspended, callId), { call_id: callId, checkpoint_id: last }].slice(-MAX_SUSPENDED);
}

export function without(suspended: readonly Suspended[], callId: string): readonly Suspended[] {
  return suspended.some(({ call_id }) => call_id === callId)
    ? suspended.filter(({ call_id }) => call_id !== callId)
    : suspended;
}

/** Clears the suspended subgraphs once no interrupt is open. */
export function stillSuspended(
  suspended: readonly Suspended[],
  interrupts: readonly Interrupt[],
): readonly Suspended[] {
  return interrupts.length === 0 ? NONE : suspended;
}

const NONE: readonly Suspended[] = [];
