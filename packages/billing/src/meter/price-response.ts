import type { Evidence, SeenResponse } from "../ledger/usage-unit.js";
import { type Picodollars, parseCost } from "../money/picodollars.js";

/** Why a unit stays in doubt until LiteLLM's logs tell. */
export type DoubtReason =
  /** The connection failed before a response came. */
  | "no_response"
  | "http_error"
  /** An answer without a price: not the same as a price of zero. */
  | "unpriced"
  | "stream_error"
  /** The stream ended without its end mark. */
  | "truncated"
  | "aborted"
  | "cancelled";

export type Verdict =
  | { readonly kind: "priced"; readonly amount: Picodollars; readonly evidence: Evidence }
  | { readonly kind: "doubt"; readonly reason: DoubtReason };

const doubt = (reason: DoubtReason): Verdict => ({ kind: "doubt", reason });

/**
 * The one header that is a cost. Streams carry others that look like one (`x-litellm-response-cost-original: 0.0`), and
 * never this one.
 */
const COST = "x-litellm-response-cost";
/** LiteLLM answers these itself before it starts a call, and then without a call id. */
const REFUSALS = new Set([401, 403, 404, 405, 422]);

/** The price of an answer that is whole: plain, or an error. */
export function priceAnswer(status: number, headers: Headers): Verdict {
  const cost = parseCost(headers.get(COST));
  if (status >= 400) {
    if (cost === 0n) return { kind: "priced", amount: 0n, evidence: "refused" };
    const isRefused = REFUSALS.has(status) && !headers.has("x-litellm-call-id");
    return isRefused ? { kind: "priced", amount: 0n, evidence: "refused" } : doubt("http_error");
  }
  return priceTold(cost, headers, "response_header");
}

/** The price of a stream that came to its end mark, which is in its last usage event. */
export function priceStream(usage: Readonly<Record<string, unknown>> | undefined, headers: Headers): Verdict {
  return priceTold(parseCost(usage?.cost), headers, "last_event");
}

function priceTold(cost: Picodollars | undefined, headers: Headers, evidence: Evidence): Verdict {
  // A hit tells the full price, and LiteLLM charges nothing for it. The header is there on a hit only.
  if (headers.has("x-litellm-cache-key")) return { kind: "priced", amount: 0n, evidence: "cache_hit" };
  return cost === undefined ? doubt("unpriced") : { kind: "priced", amount: cost, evidence };
}

export function seenInHeaders(headers: Headers): SeenResponse {
  return {
    servedModel: headers.get("x-litellm-model-group"),
    responseId: null,
    inputTokens: 0,
    outputTokens: 0,
    retries: toCount(headers.get("x-litellm-attempted-retries")),
    fallbacks: toCount(headers.get("x-litellm-attempted-fallbacks")),
  };
}

/** Adds a body's id and tokens, whose names differ between the APIs. */
export function withUsage(
  seen: SeenResponse,
  responseId: string | null,
  usage: Readonly<Record<string, unknown>> | undefined,
): SeenResponse {
  return {
    ...seen,
    responseId,
    inputTokens: toCount(usage?.prompt_tokens ?? usage?.input_tokens),
    outputTokens: toCount(usage?.completion_tokens ?? usage?.output_tokens),
  };
}

function toCount(value: unknown): number {
  const count = Number(value ?? 0);
  return Number.isSafeInteger(count) && count > 0 ? count : 0;
}
