import { context as activeContext, type Span, SpanStatusCode, trace } from "@opentelemetry/api";
import type { RunNote } from "../thread/run-note.js";
import type { ServiceObserver } from "../thread/service-observer.js";
import { contextOf } from "./traceparent.js";

type RunSpans = Pick<ServiceObserver, "runStarted" | "within" | "runEnded" | "runLeft">;

/**
 * One span per attempt, below the request that asked for the run, whichever instance that came to. A later attempt is also
 * linked to that request: its own parent may have ended long ago, on a machine that is gone.
 */
export function createRunSpans(): RunSpans {
  const open = new Map<string, Span>();
  const keyOf = ({ runId, attempt }: RunNote) => `${runId}/${attempt}`;

  function end(run: RunNote, change: (span: Span) => void): void {
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
    // What instruments the graph, its model calls and its HTTP then makes spans below this one, and sends `traceparent` on.
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
