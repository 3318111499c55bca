import type { SeenResponse } from "../ledger/usage-unit.js";
import {
  type DoubtReason,
  priceAnswer,
  priceStream,
  seenInHeaders,
  type Verdict,
  withUsage,
} from "./price-response.js";
import { createStreamReading } from "./stream-reading.js";

export interface ResponseMeter {
  /** Called once. Resolves when the answer may go on. */
  readonly settle: (verdict: Verdict, seen?: SeenResponse) => Promise<void>;
  readonly signal: AbortSignal | undefined;
}

/** Prices an answer and gives it on: a plain one when its body is there, a stream as it passes. */
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
    await meter.settle(priceAnswer(status, headers), withUsage(seenInHeaders(headers), id, usage));
    return withBody(response, bytes);
  }
  await meter.settle(priceAnswer(status, headers), seenInHeaders(headers));
  return response;
}

/** Hands on each chunk as it is, after its price was written if it carries the end mark. Reads only what it is asked for. */
function meteredStream(
  body: ReadableStream<Uint8Array>,
  headers: Headers,
  { settle, signal }: ResponseMeter,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const reading = createStreamReading();
  let isSettled = false;

  // A client that aborts may never read again.
  const onAbort = () => void finish("aborted");
  signal?.addEventListener("abort", onAbort, { once: true });

  async function finish(unlessEnded: DoubtReason): Promise<void> {
    if (isSettled) return;
    isSettled = true;
    signal?.removeEventListener("abort", onAbort);
    const { ended, failed, usage, responseId } = reading;
    const verdict: Verdict = failed
      ? { kind: "doubt", reason: "stream_error" }
      : ended
        ? priceStream(usage, headers)
        : { kind: "doubt", reason: unlessEnded };
    await settle(verdict, withUsage(seenInHeaders(headers), responseId, usage));
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
