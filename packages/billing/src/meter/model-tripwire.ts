import type { NewUnit } from "../ledger/usage-unit.js";
import { forgetOldest } from "./forget-oldest.js";
import { currentMeteredRun, type MeteredRun } from "./metered-run.js";

/** The part of LangChain's callbacks that a tripwire needs; an object like this is a handler there. */
export interface ModelCallbacks {
  readonly name: string;
  /** Told in the call's own time and context: a start that is told later would count the call's own request as an earlier one. */
  readonly awaitHandlers: true;
  handleChatModelStart(model: unknown, messages: unknown, callId: string): void;
  handleLLMStart(model: unknown, prompts: unknown, callId: string): void;
  handleLLMEnd(output: unknown, callId: string): void;
  handleLLMError(error: unknown, callId: string): void;
}

export interface ModelTripwire {
  /** Goes to the meter's observer. */
  opened(unit: NewUnit): void;
  /** Goes to the graph's run. */
  readonly callbacks: ModelCallbacks;
}

/** More model calls than one process has under way at once; the oldest is forgotten first. */
const REMEMBERED = 10_000;

/**
 * Notices a model that was called in a run without a request through the meter: its client has a `fetch` of its own. Calls
 * side by side in one run can hide one another; a model that only ever goes past the meter is noticed.
 */
export function createModelTripwire({
  onUnmetered,
  currentRun = currentMeteredRun,
}: {
  readonly onUnmetered: (run: MeteredRun | undefined) => void;
  readonly currentRun?: () => MeteredRun | undefined;
}): ModelTripwire {
  const requests = new Map<string, number>();
  const started = new Map<string, { readonly run: MeteredRun | undefined; readonly before: number }>();

  function start(callId: string): void {
    const run = currentRun();
    started.set(callId, { run, before: requests.get(run?.runId ?? "") ?? 0 });
    forgetOldest(started, REMEMBERED);
  }

  function end(callId: string): void {
    const call = started.get(callId);
    if (!call) return;
    started.delete(callId);
    if ((requests.get(call.run?.runId ?? "") ?? 0) <= call.before) onUnmetered(call.run);
  }

  return {
    opened({ runId }) {
      requests.set(runId, (requests.get(runId) ?? 0) + 1);
      forgetOldest(requests, REMEMBERED);
    },
    callbacks: {
      name: "throughline-tripwire",
      awaitHandlers: true,
      handleChatModelStart: (_model, _messages, callId) => start(callId),
      handleLLMStart: (_model, _prompts, callId) => start(callId),
      handleLLMEnd: (_output, callId) => end(callId),
      handleLLMError: (_error, callId) => end(callId),
    },
  };
}
