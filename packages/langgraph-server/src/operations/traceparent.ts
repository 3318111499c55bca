import { type Context, ROOT_CONTEXT, type SpanContext, trace } from "@opentelemetry/api";

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The span a W3C `traceparent` names, as what comes after it needs it; the root where it is absent or malformed. */
export function contextOf(traceparent: string | null | undefined): {
  readonly context: Context;
  readonly spanContext: SpanContext | undefined;
} {
  const [, traceId, spanId, flags = "01"] = TRACEPARENT.exec(traceparent ?? "") ?? [];
  if (traceId === undefined || spanId === undefined) return { context: ROOT_CONTEXT, spanContext: undefined };
  const spanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return { context: trace.setSpanContext(ROOT_CONTEXT, spanContext), spanContext };
}
