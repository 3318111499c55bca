import type { Json } from "@throughline/ai-core";
import type { CallView, ThreadView } from "./thread-view.js";

type CallName = Pick<CallView, "runId" | "callId">;

interface ToldCalls {
  readonly whole: boolean;
  readonly calls: readonly CallView[];
  readonly gone?: readonly CallName[];
}

/** Section 5.9 of the protocol: all the calls there are, or some that are new, changed or no longer kept. */
export function takeCalls(view: ThreadView, value: Json): ThreadView {
  // Only its outline is checked, because the service alone writes under this name.
  const told = (value ?? {}) as unknown as Partial<ToldCalls>;
  if (!Array.isArray(told.calls)) return view;
  const calls = told.whole ? [] : without(view.calls, told.gone ?? []);
  for (const call of told.calls) {
    const at = calls.findLastIndex((known) => known.callId === call.callId && known.runId === call.runId);
    if (at < 0) calls.push(call);
    else calls[at] = call;
  }
  return { ...view, calls };
}

/** The service alone decides what is kept. What is gone is gone with all below it, which began later. */
function without(calls: readonly CallView[], gone: readonly CallName[]): CallView[] {
  if (gone.length === 0) return calls.slice();
  const keys = new Set(gone.map(keyOf));
  return calls.filter((call) => {
    const isGone =
      keys.has(keyOf(call)) ||
      (call.parentId !== null && keys.has(keyOf({ runId: call.runId, callId: call.parentId })));
    if (isGone) keys.add(keyOf(call));
    return !isGone;
  });
}

function keyOf({ runId, callId }: CallName): string {
  return `${runId} ${callId}`;
}
