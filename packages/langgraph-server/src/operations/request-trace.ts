import { randomBytes, randomUUID } from "node:crypto";
import { type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { contextOf } from "./traceparent.js";

/** What ties one request together on every hop: logs, spans, envelopes, model calls. */
export interface RequestTrace {
  readonly requestId: string;
  readonly traceId: string;
  /** To be sent back, and on. */
  readonly traceparent: string;
  readonly span: Span;
}

const NO_TRACE = "0".repeat(32);
const SAMPLED = 1;
/** Printable ASCII without spaces: it comes back in a header and stands in logs. */
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** Takes over the caller's ids where they are well-formed; makes them where they are not. */
export function traceRequest(headers: Headers, name: string): RequestTrace {
  const sent = headers.get("x-request-id");
  const requestId = sent !== null && REQUEST_ID.test(sent) ? sent : randomUUID();
  const { context, spanContext: parent } = contextOf(headers.get("traceparent"));
  const span = trace.getTracer("throughline").startSpan(name, { kind: SpanKind.SERVER }, context);
  const own = span.spanContext();
  const isRecorded = own.traceId !== NO_TRACE;
  const traceId = parent?.traceId ?? (isRecorded ? own.traceId : randomBytes(16).toString("hex"));
  // Without an SDK the span is a dummy whose id is the parent's, or none at all.
  const spanId = isRecorded && own.spanId !== parent?.spanId ? own.spanId : randomBytes(8).toString("hex");
  span.setAttribute("throughline.request_id", requestId);
  const flags = (parent?.traceFlags ?? SAMPLED).toString(16).padStart(2, "0");
  return { requestId, traceId, traceparent: `00-${traceId}-${spanId}-${flags}`, span };
}

export function endSpan(span: Span, status: number): void {
  span.setAttribute("http.response.status_code", status);
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}
