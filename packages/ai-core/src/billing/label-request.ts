import type { KnownLabels } from "./call-labels.js";

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
  {
    labels,
    token,
  }: { readonly labels: KnownLabels & { readonly usageUnitId: string }; readonly token: string },
): Headers {
  const headers = new Headers(own);
  for (const name of [...KEY_HEADERS, "x-litellm-trace-id", "x-litellm-session-id"]) headers.delete(name);
  headers.set("authorization", `Bearer ${token}`);
  headers.set("x-litellm-call-id", labels.usageUnitId);
  if (labels.runId !== undefined) headers.set("x-litellm-session-id", labels.runId);
  headers.set("x-litellm-spend-logs-metadata", asciiJson(labels));
  return headers;
}

/** A header holds bytes, and LiteLLM drops a label that is not JSON without a word. */
function asciiJson(value: KnownLabels): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
