import type { FrameCall } from "./frame.js";
import type { PathStep } from "./lines.js";

/** The work of the run that is shown, in the order it began. */
export type Calls = ReadonlyMap<string, FrameCall>;

export function changeCalls(calls: Calls, told: { whole: boolean; calls: readonly FrameCall[] }): Calls {
  return new Map([...(told.whole ? [] : calls), ...told.calls.map((call) => [call.callId, call] as const)]);
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
