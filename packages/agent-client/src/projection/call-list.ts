import type { Json } from "@throughline/ai-core";
import type { CallView, ThreadView } from "./thread-view.js";

/** As many as the service keeps, so that a page that watched for hours shows what one shows that has just opened. */
const MAX_CALLS = 200;

interface ToldCalls {
  readonly whole: boolean;
  readonly calls: readonly CallView[];
}

/** Section 5.9 of the protocol: all the calls there are, or some that are new or changed. */
export function takeCalls(view: ThreadView, value: Json): ThreadView {
  // Only its outline is checked, because the service alone writes under this name.
  const told = (value ?? {}) as unknown as Partial<ToldCalls>;
  if (!Array.isArray(told.calls)) return view;
  const calls = told.whole ? [] : view.calls.slice();
  for (const call of told.calls) {
    const at = calls.findLastIndex((known) => known.callId === call.callId && known.runId === call.runId);
    if (at < 0) calls.push(call);
    else calls[at] = call;
  }
  return { ...view, calls: calls.length > MAX_CALLS ? calls.slice(-MAX_CALLS) : calls };
}
