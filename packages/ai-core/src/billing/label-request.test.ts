import { describe, expect, it } from "vitest";
import { type CallLabels, callLabelsSchema, isMetered, labelRequest, markMetered } from "./model-calls.js";

const labels: CallLabels = {
  accountId: "acme",
  virtualKeyId: "key-1",
  runId: "run-1",
  attempt: 0,
  usageUnitId: "0c7f1c5e-9d1f-4b62-8a51-3a3b7f2f6f10",
  threadId: "thread-1",
  requestId: "request-1",
  traceId: "trace-é-🚲",
  executorType: "langgraph_server",
};

describe("a labelled request", () => {
  it("says in plain ASCII what it is, and is read back as it was", () => {
    const headers = labelRequest(new Headers(), { labels, token: "t" });
    const text = headers.get("x-litellm-spend-logs-metadata") ?? "";
    expect(text).toMatch(/^[\x20-\x7e]+$/);
    expect(callLabelsSchema.parse(JSON.parse(text))).toEqual(labels);
  });

  it("has no session where its run is not known, whatever was set", () => {
    const own = new Headers({
      "x-litellm-session-id": "theirs",
      "x-litellm-trace-id": "theirs",
      accept: "*/*",
    });
    const { usageUnitId, executorType } = labels;
    const headers = labelRequest(own, { labels: { usageUnitId, executorType }, token: "t" });
    expect([...headers.keys()].sort()).toEqual([
      "accept",
      "authorization",
      "x-litellm-call-id",
      "x-litellm-spend-logs-metadata",
    ]);
  });
});

describe("labels that a log has", () => {
  it.each<[string, object]>([
    ["a NUL", { runId: "run\u0000" }],
    ["a long text", { traceId: "t".repeat(257) }],
    ["an id that is no uuid", { usageUnitId: "u1" }],
    ["a uuid in capitals", { usageUnitId: labels.usageUnitId.toUpperCase() }],
    ["another executor", { executorType: "elsewhere" }],
    ["no account", { accountId: undefined }],
  ])("are not ours with %s", (_, change) => {
    expect(callLabelsSchema.safeParse({ ...labels, ...change }).success).toBe(false);
  });
});

it("marks a fetch that labels, and no other", () => {
  const plain: typeof fetch = async () => new Response();
  expect(isMetered(plain)).toBe(false);
  expect(isMetered(markMetered(plain))).toBe(true);
});
