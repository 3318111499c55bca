import { randomBytes, randomUUID } from "node:crypto";
import {
  context as activeContext,
  type Context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import type { RunLabels, ServiceObserver } from "./observer.js";

/** The ids that identify one request on every hop: logs, spans, envelopes, model calls. */
export interface RequestTrace {
  readonly requestId: string;
  readonly traceId: string;
  /** The header that is sent back, and on to other services. */
  readonly traceparent: string;
  readonly span: Span;
}

const NO_TRACE = "0".repeat(32);
const SAMPLED = 1;
/** Printable ASCII without spaces: the id is returned in a header and logged. */
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** Adopts the caller's ids where they are well-formed, and creates them where they are not. */
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

type RunSpans = Pick<ServiceObserver, "runStarted" | "within" | "runEnded" | "runLeft">;

/**
 * Creates one span per attempt, below the request that started the run, on any instance. A later attempt is also
 * linked to that request: its own parent may have ended long ago, on a machine that is gone.
 */
export function createRunSpans(): RunSpans {
  const open = new Map<string, Span>();
  const keyOf = ({ runId, attempt }: RunLabels) => `${runId}/${attempt}`;

  function end(run: RunLabels, change: (span: Span) => void): void {
    const span = open.get(keyOf(run));
    if (!span) return;
    open.delete(keyOf(run));
    change(span);
    span.end();
  }

  return {
    runStarted(run) {
      const { context, spanContext } = contextOf(run.traceparent);
      const links =
        run.attempt > 0 && spanContext
          ? [{ context: spanContext, attributes: { "throughline.link": "asked for by" } }]
          : [];
      const attributes = {
        "throughline.run_id": run.runId,
        "throughline.graph_id": run.graphId,
        "throughline.account": run.account,
        "throughline.attempt": run.attempt,
        "throughline.trace_id": run.traceId,
      };
      const name = run.attempt > 0 ? `take over ${run.graphId}` : `run ${run.graphId}`;
      open.set(keyOf(run), trace.getTracer("throughline").startSpan(name, { attributes, links }, context));
    },
    // Instrumentation of the graph, its model calls and its HTTP then creates spans below this one, and propagates `traceparent`.
    within(run, work) {
      const span = open.get(keyOf(run));
      return span ? activeContext.with(trace.setSpan(activeContext.active(), span), work) : work();
    },
    runEnded(run) {
      end(run, (span) => {
        span.setAttribute("throughline.status", run.status);
        if (run.status === "error" || run.status === "lost") span.setStatus({ code: SpanStatusCode.ERROR });
      });
    },
    runLeft(run) {
      end(run, (span) => {
        span.setAttribute("throughline.left", run.why);
        if (run.why !== "handed_over") span.setStatus({ code: SpanStatusCode.ERROR });
      });
    },
  };
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Parses a W3C `traceparent` to the context of its span; the root context where it is absent or malformed. */
function contextOf(traceparent: string | null | undefined): {
  readonly context: Context;
  readonly spanContext: SpanContext | undefined;
} {
  const [, traceId, spanId, flags = "01"] = TRACEPARENT.exec(traceparent ?? "") ?? [];
  if (traceId === undefined || spanId === undefined) return { context: ROOT_CONTEXT, spanContext: undefined };
  const spanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return { context: trace.setSpanContext(ROOT_CONTEXT, spanContext), spanContext };
}
