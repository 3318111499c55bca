import type { Evidence, ResponseUsage } from "../ledger/ledger.js";
import { type Picodollars, parseCost } from "../ledger/money.js";
import { createStreamUsage } from "./stream-usage.js";

export interface ResponseMeter {
  /** Records the verdict. Called once; resolves when the response may go on. */
  readonly recordVerdict: (verdict: Verdict, seen?: ResponseUsage) => Promise<void>;
  readonly signal: AbortSignal | undefined;
}

/** Prices a response and passes it on: a plain one when its body is there, a stream as it passes. */
export async function meterResponse(response: Response, meter: ResponseMeter): Promise<Response> {
  const { status, headers, body } = response;
  const type = headers.get("content-type") ?? "";
  if (status < 400 && body && type.includes("text/event-stream")) {
    return withBody(response, meteredStream(body, headers, meter));
  }
  if (status < 400 && body && type.includes("application/json")) {
    // Its price is in a header, its tokens in the body, which the client waits for anyway.
    const bytes = await response.arrayBuffer();
    const { id, usage } = readAnswer(bytes);
    await meter.recordVerdict(priceAnswer(status, headers), withUsage(seenInHeaders(headers), id, usage));
    return withBody(response, bytes);
  }
  await meter.recordVerdict(priceAnswer(status, headers), seenInHeaders(headers));
  return response;
}

/** Hands on each chunk as it is, after its price was written if it carries the end mark. Reads only what it is asked for. */
function meteredStream(
  body: ReadableStream<Uint8Array>,
  headers: Headers,
  { recordVerdict, signal }: ResponseMeter,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const reading = createStreamUsage();
  let isRecorded = false;

  // A client that aborts may never read again.
  const onAbort = () => void finish("aborted");
  signal?.addEventListener("abort", onAbort, { once: true });

  async function finish(unlessEnded: UnpricedReason): Promise<void> {
    if (isRecorded) return;
    isRecorded = true;
    signal?.removeEventListener("abort", onAbort);
    const { ended, failed, usage, responseId } = reading;
    const verdict: Verdict = failed
      ? { kind: "doubt", reason: "stream_error" }
      : ended
        ? priceStream(usage, headers)
        : { kind: "doubt", reason: unlessEnded };
    await recordVerdict(verdict, withUsage(seenInHeaders(headers), responseId, usage));
  }

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            await finish("truncated");
            controller.close();
            return;
          }
          reading.push(value);
          if (reading.ended) await finish("truncated");
          controller.enqueue(value);
        } catch (error) {
          await finish(signal?.aborted ? "aborted" : "truncated");
          controller.error(error);
        }
      },
      async cancel(reason) {
        await Promise.all([reader.cancel(reason), finish("cancelled")]);
      },
    },
    { highWaterMark: 0 },
  );
}

function readAnswer(bytes: ArrayBuffer): {
  id: string | null;
  usage: Readonly<Record<string, unknown>> | undefined;
} {
  try {
    const answer: unknown = JSON.parse(Buffer.from(bytes).toString());
    if (typeof answer !== "object" || answer === null) return { id: null, usage: undefined };
    const { id, usage }: { id?: unknown; usage?: unknown } = answer;
    return {
      id: typeof id === "string" ? id : null,
      usage:
        typeof usage === "object" && usage !== null ? Object.fromEntries(Object.entries(usage)) : undefined,
    };
  } catch {
    return { id: null, usage: undefined };
  }
}

function withBody(response: Response, body: ReadableStream<Uint8Array> | ArrayBuffer): Response {
  const { status, statusText, headers, url } = response;
  // A made response has no address of its own; client libraries put it into their messages.
  return Object.defineProperty(new Response(body, { status, statusText, headers }), "url", { value: url });
}

/** Reasons why a unit is in doubt until LiteLLM's logs show its price. */
export type UnpricedReason =
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
  | { readonly kind: "doubt"; readonly reason: UnpricedReason };

const doubt = (reason: UnpricedReason): Verdict => ({ kind: "doubt", reason });

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
  return priceReported(cost, headers, "response_header");
}

/** The price of a stream that came to its end mark, which is in its last usage event. */
export function priceStream(usage: Readonly<Record<string, unknown>> | undefined, headers: Headers): Verdict {
  return priceReported(parseCost(usage?.cost), headers, "last_event");
}

function priceReported(cost: Picodollars | undefined, headers: Headers, evidence: Evidence): Verdict {
  // A hit carries the full price, and LiteLLM charges nothing for it. The header is there on a hit only.
  if (headers.has("x-litellm-cache-key")) return { kind: "priced", amount: 0n, evidence: "cache_hit" };
  return cost === undefined ? doubt("unpriced") : { kind: "priced", amount: cost, evidence };
}

export function seenInHeaders(headers: Headers): ResponseUsage {
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
  seen: ResponseUsage,
  responseId: string | null,
  usage: Readonly<Record<string, unknown>> | undefined,
): ResponseUsage {
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
