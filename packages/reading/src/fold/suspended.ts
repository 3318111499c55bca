import type { CallStatus, Interrupt } from "@throughline/ai-core";
import type { Suspended, ThreadFold } from "./thread-fold.js";

/** More than a superstep has in practice: what is older than so many others is not waited for. */
const MAX_SUSPENDED = 100;

/** A subgraph's newest checkpoint. */
export function withCheckpoint(fold: ThreadFold, callId: string, checkpointId: string): ThreadFold {
  const newest: Suspended = { call_id: callId, checkpoint_id: checkpointId };
  return { ...fold, checkpoints: [...without(fold.checkpoints, callId), newest].slice(-MAX_SUSPENDED) };
}

/** A subgraph ended: one that asked waits for its answer. */
export function afterSubgraph(
  { suspended, checkpoints }: ThreadFold,
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

/** Where no question is open any more, no subgraph waits for an answer. */
export function stillSuspended(
  suspended: readonly Suspended[],
  interrupts: readonly Interrupt[],
): readonly Suspended[] {
  return interrupts.length === 0 ? NONE : suspended;
}

const NONE: readonly Suspended[] = [];
