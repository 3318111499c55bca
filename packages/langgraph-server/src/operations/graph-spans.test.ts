import { AsyncLocalStorage } from "node:async_hooks";
import { type Context, context, ROOT_CONTEXT, type Span, type Tracer, trace } from "@opentelemetry/api";
import { graphRegistry } from "@throughline/graph-executor";
import { describeGraph, LANGGRAPH_CATALOG } from "@throughline/langgraph-graphs";
import { envKeyResolver } from "@throughline/langgraph-models";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openServiceScene, type ServiceScene } from "../testing/service-scene.js";
import { createLogger, logEvents } from "./logging.js";
import { createMetrics, type Metrics } from "./metrics.js";

/** What an SDK's tracer and context manager do, as far as it matters which span is active where. */
const spans = new Map<string, string>();
function startSpan(name: string): Span {
  const spanId = String(spans.size + 1).padStart(16, "0");
  spans.set(spanId, name);
  return trace.wrapSpanContext({ traceId: "1".repeat(32), spanId, traceFlags: 1 });
}
const tracer: Tracer = {
  startSpan,
  startActiveSpan() {
    throw new Error("not used");
  },
};
const active = new AsyncLocalStorage<Context>();

let metrics: Metrics;
let scene: ServiceScene;
/** Of each model call, the id of the span that was active. */
const seen: string[] = [];
beforeAll(async () => {
  trace.setGlobalTracerProvider({ getTracer: () => tracer });
  context.setGlobalContextManager({
    active: () => active.getStore() ?? ROOT_CONTEXT,
    with: (now, work, thisArg, ...args) => active.run(now, () => work.apply(thisArg, args)),
    bind: (_, target) => target,
    enable() {
      return this;
    },
    disable() {
      return this;
    },
  });
  const noteSpan = {
    awaitHandlers: true,
    handleChatModelStart() {
      seen.push(trace.getActiveSpan()?.spanContext().spanId ?? "none");
    },
  };
  const keys = envKeyResolver({});
  metrics = createMetrics();
  scene = await openServiceScene({
    observer: logEvents({ metrics, logger: createLogger({ level: "silent" }) }),
    graphs: graphRegistry(
      LANGGRAPH_CATALOG.map((definition) => ({
        descriptor: describeGraph(definition),
        create: () => definition.create({ keys }).withConfig({ callbacks: [noteSpan] }),
      })),
    ),
  });
});
afterAll(async () => {
  await scene?.close();
  metrics.close();
});

it("a graph's model calls are made below the span of their own run, also when several run at once", async () => {
  await Promise.all(
    ["poet", "ponderer", "poet"].map((name) => scene.run(scene.thread(name), "Write about tides")),
  );
  const names = seen.map((spanId) => spans.get(spanId)).toSorted();
  expect(names).toEqual(["run langgraph:poet", "run langgraph:poet", "run langgraph:ponderer"]);
  expect(new Set(seen).size).toBe(3);
});
