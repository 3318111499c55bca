import type { MeteredRun } from "./metered-run.js";

/** Every header that LiteLLM takes a key from. What a graph put there must not win. */
const KEY_HEADERS = [
  "authorization",
  "api-key",
  "x-api-key",
  "x-goog-api-key",
  "ocp-apim-subscription-key",
  "x-litellm-api-key",
] as const;

/**
 * The headers of a request with its key and its labels; what a graph set is overwritten. `x-litellm-trace-id` would win over
 * the session id, so it goes.
 */
export function labelRequest(
  own: Headers,
  { run, unitId, token }: { readonly run: MeteredRun; readonly unitId: string; readonly token: string },
): Headers {
  const headers = new Headers(own);
  for (const name of KEY_HEADERS) headers.delete(name);
  headers.delete("x-litellm-trace-id");
  headers.set("authorization", `Bearer ${token}`);
  headers.set("x-litellm-call-id", unitId);
  headers.set("x-litellm-session-id", run.runId);
  headers.set("x-litellm-spend-logs-metadata", spendMetadata(run, unitId));
  return headers;
}

/** What reconciliation and people find a call by in LiteLLM's logs. Ids only: it is stored there in the clear. */
function spendMetadata({ caller, ...run }: MeteredRun, unitId: string): string {
  return asciiJson({
    accountId: caller.billingAccountId,
    virtualKeyId: caller.virtualKeyId,
    runId: run.runId,
    attempt: run.attempt,
    usageUnitId: unitId,
    threadId: run.threadId,
    requestId: run.ingressRequestId,
    traceId: caller.traceId,
    executorType: run.executorType,
  });
}

/** A header holds bytes, and LiteLLM drops a label that is not JSON without a word. */
function asciiJson(value: Readonly<Record<string, string | number>>): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
