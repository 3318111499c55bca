import type { CallView, ThreadView } from "@throughline/agent-client";
import type { PathStep } from "./blocks.js";

/** The calls of the run that is shown, in the order they began. */
export function callsOfRun({ calls, run }: ThreadView): readonly CallView[] {
  return calls.filter(({ runId }) => runId === run?.serviceRunId);
}

/** The nodes and subgraphs around a call, and itself if it is one. A tool is shown by its own lines. */
export function pathOf(view: ThreadView, callId: string | undefined): readonly PathStep[] {
  const calls = new Map(callsOfRun(view).map((call) => [call.callId, call]));
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

/** The path of a message. One that no model wrote has no call, so its path is that of the running node that began last. */
export function pathOfMessage(view: ThreadView, messageId: string | undefined): readonly PathStep[] {
  let latest: CallView | undefined;
  for (const call of callsOfRun(view)) {
    if (call.kind === "model" && call.messageId === messageId) return pathOf(view, call.callId);
    if (call.status === "running" && (call.kind === "node" || call.kind === "subgraph")) latest = call;
  }
  return pathOf(view, latest?.callId);
}
