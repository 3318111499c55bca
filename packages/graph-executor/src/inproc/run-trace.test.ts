import type { GraphRunRequest } from "@throughline/ai-core";
import { expect, it } from "vitest";
import { runTrace } from "./stream.js";

const request: Pick<GraphRunRequest, "runId" | "graphId" | "caller"> = {
  runId: "01a1eaad-eb27-7593-b69c-dfbeff30b6fb",
  graphId: "langgraph:poet",
  caller: { billingAccountId: "acme", virtualKeyId: "key-1", traceId: "trace-1" },
};

it("only a run's first attempt is traced under its id; every attempt names its run", () => {
  const traces = [0, 1].map((attempt) => runTrace({ ...request, attempt }));
  expect(traces.map((trace) => trace.runId)).toEqual([request.runId, undefined]);
  for (const { metadata } of traces) expect(metadata.throughline_run_id).toBe(request.runId);
});
