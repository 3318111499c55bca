import { randomBytes, randomUUID } from "node:crypto";
import { ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";

/** What ties one request together on every hop: logs, spans, envelopes, model calls. */
export interface RequestTrace {
  readonly requestId: string;
  readonly traceId: string;
  /** To be sent back, and on. */
  readonly traceparent: string;
  readonly span: Span;
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const NO_TRACE = "0".repeat(32);
/** Printable ASCII without spaces: it comes back in a header and stands in logs. */
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** Takes over the caller's ids where they are well-formed; makes them where they are not. */
export function traceRequest(headers: Headers, name: string): RequestTrace {
  const sent = headers.get("x-request-id");
  const requestId = sent !== null && REQUEST_ID.test(sent) ? sent : randomUUID();
  const [, parentTrace, parentSpan, flags = "01"] = TRACEPARENT.exec(headers.get("traceparent") ?? "") ?? [];
  const parent =
    parentTrace === undefined || parentSpan === undefined
      ? ROOT_CONTEXT
      : trace.setSpanContext(ROOT_CONTEXT, {
          traceId: parentTrace,
          spanId: parentSpan,
          traceFlags: Number.parseInt(flags, 16),
          isRemote: true,
        });
  const span = trace.getTracer("throughline").startSpan(name, { kind: SpanKind.SERVER }, parent);
  const own = span.spanContext();
  const isRecorded = own.traceId !== NO_TRACE;
  const traceId = parentTrace ?? (isRecorded ? own.traceId : randomBytes(16).toString("hex"));
  // Without an SDK the span is a dummy whose id is the parent's, or none at all.
  const spanId = isRecorded && own.spanId !== parentSpan ? own.spanId : randomBytes(8).toString("hex");
  span.setAttribute("throughline.request_id", requestId);
  return { requestId, traceId, traceparent: `00-${traceId}-${spanId}-${flags}`, span };
}

export function endSpan(span: Span, status: number): void {
  span.setAttribute("http.response.status_code", status);
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}
