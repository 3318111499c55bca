import { markMetered, requestTarget, ThroughlineError, toRefusal } from "@throughline/ai-core";
import type { NewUnit } from "../ledger/ledger.js";
import { currentMeteredRun, evictOldest, type MeteredRun } from "./metered-fetch.js";

export interface InstalledFetch {
  /** The original `fetch`, for requests that are not to be metered. */
  readonly plain: typeof fetch;
  /** Sends requests through this `fetch` from now on. */
  use(metered: typeof fetch): void;
  /** Restores the original `fetch`. */
  remove(): void;
}

/**
 * Replaces the global `fetch`. To be called before graphs are loaded: a client retains the `fetch` it was made with.
 * Until there is a meter, POSTs to LiteLLM are refused: they belong to no run.
 */
export function installFetch(litellmBaseUrl: string): InstalledFetch {
  const { origin } = new URL(litellmBaseUrl);
  const plain = globalThis.fetch;
  let current: typeof fetch = async (input, init) => {
    const { method, url } = requestTarget(input, init);
    if (method !== "POST" || url.origin !== origin) return plain(input, init);
    return toRefusal(
      new ThroughlineError("forbidden", "Models can't be called before the service has started."),
    ).response;
  };
  const installed = markMetered((input, init) => current(input, init));
  globalThis.fetch = installed;
  return {
    plain,
    use(metered) {
      current = metered;
    },
    remove() {
      if (globalThis.fetch === installed) globalThis.fetch = plain;
      current = plain;
    },
  };
}

/** The part of LangChain's callbacks that a tripwire needs; an object like this is a handler there. */
export interface ModelCallbacks {
  readonly name: string;
  /** Runs handlers in the call's own time and context: a start that is reported later would miss the call's own request. */
  readonly awaitHandlers: true;
  handleChatModelStart(model: unknown, messages: unknown, callId: string): void;
  handleLLMStart(model: unknown, prompts: unknown, callId: string): void;
  handleLLMEnd(
    output: unknown,
    callId: string,
    parentId?: string,
    tags?: readonly string[],
    details?: Readonly<Record<string, unknown>>,
  ): void;
  handleLLMError(error: unknown, callId: string): void;
}

export interface ModelTripwire {
  /** Goes to the meter's observer. */
  opened(unit: NewUnit): void;
  /** Goes to the graph's run. */
  readonly callbacks: ModelCallbacks;
}

/** More model calls than one process has under way at once; the oldest is evicted first. */
const REMEMBERED = 10_000;

interface ModelCall {
  readonly run: MeteredRun | undefined;
  /** Whether its run sent a request through the meter since the call began. */
  isMetered: boolean;
}

/**
 * Notices a model that answered in a run without a request through the meter: its client has a `fetch` of its own. Calls
 * side by side in one run can hide one another; a model that only ever goes past the meter is noticed. A call that failed
 * proves nothing: one that was stopped or refused before its request looks the same.
 */
export function createUnmeteredCallDetector({
  onUnmetered,
  currentRun = currentMeteredRun,
}: {
  readonly onUnmetered: (run: MeteredRun | undefined) => void;
  readonly currentRun?: () => MeteredRun | undefined;
}): ModelTripwire {
  const calls = new Map<string, ModelCall>();

  function start(callId: string): void {
    calls.set(callId, { run: currentRun(), isMetered: false });
    evictOldest(calls, REMEMBERED);
  }

  return {
    /** Costs as much as there are calls under way. */
    opened({ runId }) {
      for (const call of calls.values()) if (call.run?.runId === runId) call.isMetered = true;
    },
    callbacks: {
      name: "throughline-tripwire",
      awaitHandlers: true,
      handleChatModelStart: (_model, _messages, callId) => start(callId),
      handleLLMStart: (_model, _prompts, callId) => start(callId),
      handleLLMEnd(_output, callId, _parentId, _tags, details) {
        const call = calls.get(callId);
        calls.delete(callId);
        // LangChain's cache answers without a request.
        if (call && !call.isMetered && details?.cached !== true) onUnmetered(call.run);
      },
      handleLLMError: (_error, callId) => void calls.delete(callId),
    },
  };
}
