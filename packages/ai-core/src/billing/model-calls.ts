import { z } from "zod";
import { ERROR_CODES, type ErrorCode } from "../errors/error-codes.js";
import { ThroughlineError, toWireError } from "../errors/throughline-error.js";
import { executorTypeSchema } from "../usage/usage.js";

/** An id without control characters: PostgreSQL stores no NUL, and a log that can't be stored is not read any further. */
const id = z.string().regex(/^[^\p{Cc}]{1,256}$/u);
/** A uuid in lower case, as PostgreSQL returns it: another spelling would be another call id to LiteLLM. */
const unitId = z.string().regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);

/**
 * The labels of a model call, sent to LiteLLM as `x-litellm-spend-logs-metadata` and returned by its spend log. Ids only: they
 * are stored there in the clear. In a log they are a claim.
 */
export const callLabelsSchema = z.object({
  accountId: id,
  virtualKeyId: id,
  runId: id,
  attempt: z.number().int().nonnegative(),
  /** A uuid of ours, also sent as the call id: one per HTTP request. */
  usageUnitId: unitId,
  threadId: id,
  requestId: id,
  traceId: id,
  executorType: executorTypeSchema,
});
export type CallLabels = z.infer<typeof callLabelsSchema>;

/** The known labels of a call. An external run has no account of ours. */
export const partialCallLabelsSchema = callLabelsSchema.partial();
export type PartialCallLabels = Readonly<z.infer<typeof partialCallLabelsSchema>>;

/** Every header from which LiteLLM reads a key. A graph's value must not take precedence. */
const KEY_HEADERS = [
  "authorization",
  "api-key",
  "x-api-key",
  "x-goog-api-key",
  "ocp-apim-subscription-key",
  "x-litellm-api-key",
] as const;

/**
 * Adds key and labels to a request's headers; a graph's own values are overwritten. `x-litellm-trace-id` is removed, because
 * it would take precedence over the session id.
 */
export function labelRequest(
  own: Headers,
  {
    labels,
    token,
  }: { readonly labels: PartialCallLabels & { readonly usageUnitId: string }; readonly token: string },
): Headers {
  const headers = new Headers(own);
  for (const name of [...KEY_HEADERS, "x-litellm-trace-id", "x-litellm-session-id"]) headers.delete(name);
  headers.set("authorization", `Bearer ${token}`);
  headers.set("x-litellm-call-id", labels.usageUnitId);
  if (labels.runId !== undefined) headers.set("x-litellm-session-id", labels.runId);
  headers.set("x-litellm-spend-logs-metadata", asciiJson(labels));
  return headers;
}

/** Encodes a value as ASCII JSON: a header holds bytes, and LiteLLM silently drops a label that is not JSON. */
function asciiJson(value: PartialCallLabels): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
/** The mark of a metered `fetch`, in the symbol registry: packages that were installed twice must recognize each other's mark. */
const MARK = Symbol.for("throughline.metered");

/** Marks a `fetch` that labels requests to LiteLLM, so that no other one labels them again. */
export function markMetered(labelling: typeof fetch): typeof fetch {
  return Object.defineProperty(labelling, MARK, { value: true });
}

/** Whether requests through this `fetch` are labelled already, or metered. */
export function isMetered(candidate: typeof fetch): boolean {
  return MARK in candidate;
}
/** The placeholder where a client library requires a key. The meter replaces it by the tenant's. */
const NO_KEY = "metered";

/**
 * Variables by which the providers' own client libraries find LiteLLM, so that a graph's plain model goes through it. The
 * Anthropic library adds `/v1` itself.
 */
export function providerVariables(litellmBaseUrl: string): {
  /** Variables to set in any case. */
  readonly addresses: Readonly<Record<string, string>>;
  /** Variables to set where they are absent. */
  readonly keys: Readonly<Record<string, string>>;
} {
  const base = litellmBaseUrl.replace(/\/+$/, "").replace(/\/v1$/, "");
  return {
    addresses: { OPENAI_BASE_URL: `${base}/v1`, ANTHROPIC_BASE_URL: base },
    keys: { OPENAI_API_KEY: NO_KEY, ANTHROPIC_API_KEY: NO_KEY },
  };
}

/**
 * Converts a refusal to a response in the form of the OpenAI and Anthropic APIs. It is not thrown: a client library takes an
 * exception of `fetch` for a broken connection and tries again.
 */
export function toRefusal(error: unknown): { readonly code: ErrorCode; readonly response: Response } {
  const { code, message } = toWireError(error);
  const status = error instanceof ThroughlineError ? error.status : ERROR_CODES.internal.status;
  const response = new Response(
    JSON.stringify({ type: "error", error: { message, type: code, code, param: null } }),
    {
      status,
      headers: {
        "content-type": "application/json",
        "x-should-retry": String(status === 503),
        "x-throughline-refused": code,
      },
    },
  );
  return { code, response };
}

/** The error for a model call outside of a run, which no run pays for. */
export function outsideOfRun(): ThroughlineError {
  return new ThroughlineError(
    "forbidden",
    "Models can be called from within a run only, which pays for them.",
  );
}
type FetchArguments = Parameters<typeof fetch>;

/** The method and URL of a request, from the arguments of `fetch` in any of their forms. */
export function requestTarget(
  input: FetchArguments[0],
  init: FetchArguments[1],
): { readonly method: string; readonly url: URL } {
  const request = input instanceof Request ? input : undefined;
  return {
    method: (init?.method ?? request?.method ?? "GET").toUpperCase(),
    url: new URL(request?.url ?? String(input), "http://invalid"),
  };
}
