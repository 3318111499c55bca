import {
  type Attributes,
  type Context,
  type Link,
  type Span,
  type SpanContext,
  type SpanOptions,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RunLabels } from "./observer.js";
import { createRunSpans } from "./tracing.js";

interface Recorded {
  readonly name: string;
  readonly parent: SpanContext | undefined;
  readonly links: readonly Link[];
  readonly attributes: Attributes;
  status: SpanStatusCode | undefined;
  ended: boolean;
}

/** What an SDK would be told, and nothing of what it would do with it. */
function recordingTracer(into: Recorded[]): Tracer {
  function startSpan(name: string, options: SpanOptions = {}, context?: Context): Span {
    const parent = context && trace.getSpanContext(context);
    const recorded: Recorded = {
      name,
      parent,
      links: options.links ?? [],
      attributes: { ...options.attributes },
      status: undefined,
      ended: false,
    };
    into.push(recorded);
    const span: Span = {
      spanContext: () => ({
        traceId: parent?.traceId ?? "1".repeat(32),
        spanId: "2".repeat(16),
        traceFlags: 1,
      }),
      setAttribute(key, value) {
        recorded.attributes[key] = value;
        return span;
      },
      setAttributes: () => span,
      addEvent: () => span,
      addLink: () => span,
      addLinks: () => span,
      setStatus({ code }) {
        recorded.status = code;
        return span;
      },
      updateName: () => span,
      end() {
        recorded.ended = true;
      },
      isRecording: () => true,
      recordException() {},
    };
    return span;
  }
  const startActiveSpan: Tracer["startActiveSpan"] = () => {
    throw new Error("not used");
  };
  return { startSpan, startActiveSpan };
}

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const run: RunLabels = {
  runId: "r1",
  graphId: "langgraph:chat",
  account: "acme",
  traceId: TRACE,
  attempt: 0,
  traceparent: `00-${TRACE}-00f067aa0ba902b7-01`,
};

describe("The span of a run", () => {
  let spans: Recorded[];
  beforeEach(() => {
    spans = [];
    const tracer = recordingTracer(spans);
    trace.setGlobalTracerProvider({ getTracer: () => tracer });
  });
  afterEach(() => trace.disable());

  it("lies below the request that asked for it and ends with the run", () => {
    const observer = createRunSpans();
    observer.runStarted(run);
    expect(spans).toMatchObject([
      {
        name: "run langgraph:chat",
        parent: { traceId: TRACE, spanId: "00f067aa0ba902b7", isRemote: true },
        links: [],
        attributes: { "throughline.run_id": "r1", "throughline.account": "acme", "throughline.attempt": 0 },
        ended: false,
      },
    ]);
    observer.runEnded({ ...run, status: "success" });
    observer.runEnded({ ...run, status: "success" });
    expect(spans).toMatchObject([{ attributes: { "throughline.status": "success" }, ended: true }]);
    expect(spans[0]?.status).toBeUndefined();
  });

  it("is one of its own for each attempt, in the same trace and linked to the request", () => {
    const observer = createRunSpans();
    const again = { ...run, attempt: 1 };
    observer.runStarted(run);
    observer.runStarted(again);
    observer.runLeft({ ...run, why: "lost_lease" });
    expect(spans.map(({ ended }) => ended)).toEqual([true, false]);
    observer.runEnded({ ...again, status: "error" });
    expect(spans).toMatchObject([
      { attributes: { "throughline.left": "lost_lease" }, status: SpanStatusCode.ERROR },
      {
        name: "take over langgraph:chat",
        parent: { traceId: TRACE },
        links: [{ context: { traceId: TRACE, spanId: "00f067aa0ba902b7" } }],
        status: SpanStatusCode.ERROR,
        ended: true,
      },
    ]);
  });

  it("is a root of its own where nobody asked with a trace", () => {
    createRunSpans().runStarted({ ...run, traceparent: undefined, attempt: 1 });
    expect(spans).toMatchObject([{ parent: undefined, links: [] }]);
  });
});
