import type { FrameCall, ToldCalls } from "./frame.js";
import type { PathStep } from "./lines.js";

/** The work of the run that is shown, in the order it began. */
export type Calls = ReadonlyMap<string, FrameCall>;

export function changeCalls(calls: Calls, told: ToldCalls): Calls {
  const next = new Map(told.whole ? [] : calls);
  // What is no longer kept is gone with all below it, which began later.
  const gone = new Set(told.gone.map(({ callId }) => callId));
  if (gone.size > 0)
    for (const { callId, parentId } of calls.values()) {
      if (parentId !== null && gone.has(parentId)) gone.add(callId);
      if (gone.has(callId)) next.delete(callId);
    }
  for (const call of told.calls) next.set(call.callId, call);
  return next;
}

/** The nodes and subgraphs around a call, and itself if it is one. A tool is told by its own lines. */
export function pathOf(calls: Calls, callId: string | undefined): readonly PathStep[] {
  const path: PathStep[] = [];
  let call = callId === undefined ? undefined : calls.get(callId);
  while (call && call.kind !== "run") {
    if (call.kind === "node" || call.kind === "subgraph") {
      path.unshift({ callId: call.callId, name: call.name });
    }
    call = call.parentId === null ? undefined : calls.get(call.parentId);
  }
  return path;
}

/** A message that no model wrote has no call: it stands where work began last. */
export function pathOfMessage(calls: Calls, messageId: string | undefined): readonly PathStep[] {
  let latest: FrameCall | undefined;
  for (const call of calls.values()) {
    if (call.kind === "model" && call.messageId === messageId) return pathOf(calls, call.callId);
    if (call.status === "running" && (call.kind === "node" || call.kind === "subgraph")) latest = call;
  }
  return pathOf(calls, latest?.callId);
}
