import { StoreOutage, ThroughlineError } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { classifyError } from "./classify-error.js";

const named = (name: string, fields: object = {}) => Object.assign(new Error("x"), { name, ...fields });
const run = (cause: unknown) =>
  new ThroughlineError("run_failed", "The graph failed while it ran.", { cause });

describe("an error's class is told from its shape", () => {
  it.each<[string, unknown, string]>([
    ["a plain error", new TypeError("no plan"), "node"],
    ["a text", "boom", "node"],
    ["nothing", undefined, "node"],
    ["a tool that could not be called", named("ToolInvocationError"), "tool"],
    ["arguments that do not fit a tool", named("ToolInputParsingException"), "tool"],
    ["OpenAI's refusal", named("Error", { status: 400, request_id: "req_1" }), "model"],
    [
      "Anthropic's refusal",
      named("Error", { status: 529, error: { error: { type: "overloaded_error" } } }),
      "model",
    ],
    ["a model's limit by name", named("RateLimitError", { status: 429 }), "model"],
    ["a model's limit as LangChain says it", named("Error", { lc_error_code: "MODEL_RATE_LIMIT" }), "model"],
    ["a model that was aborted", named("ModelAbortError"), "cancelled"],
    ["too many steps", named("GraphRecursionError", { lc_error_code: "GRAPH_RECURSION_LIMIT" }), "graph"],
    [
      "a write that does not fit",
      named("InvalidUpdateError", { lc_error_code: "INVALID_CONCURRENT_GRAPH_UPDATE" }),
      "graph",
    ],
    ["an error as a server tells it", { error: "GraphRecursionError", message: "x" }, "graph"],
    ["a host that does not answer", named("Error", { code: "ECONNREFUSED" }), "upstream"],
    [
      "fetch without an answer",
      Object.assign(new TypeError("fetch failed"), {
        cause: named("Error", { code: "UND_ERR_CONNECT_TIMEOUT" }),
      }),
      "upstream",
    ],
    ["a web API's refusal", named("AxiosError", { response: { status: 500 } }), "upstream"],
    ["a status alone, which says nothing", named("Error", { status: 404 }), "node"],
    ["an abort", named("AbortError"), "cancelled"],
    ["a stop of ours", new ThroughlineError("cancelled", "The run was stopped."), "cancelled"],
    ["our store", new StoreOutage(new Error("away")), "store"],
    ["the LangGraph server", new ThroughlineError("upstream_unavailable", "x"), "upstream"],
    ["a failed run, by what it failed of", run(named("ToolInvocationError")), "tool"],
    ["a failed run of a plain error", run(new Error("x")), "node"],
  ])("%s", (_, error, expected) => {
    expect(classifyError(error, { inNode: true })).toBe(expected);
  });

  it("is the graph's where no node ran", () => {
    expect(classifyError(new Error("x"), { inNode: false })).toBe("graph");
  });

  it("that is its own cause ends", () => {
    const error = new Error("round");
    error.cause = error;
    expect(classifyError(error, { inNode: true })).toBe("node");
  });
});
