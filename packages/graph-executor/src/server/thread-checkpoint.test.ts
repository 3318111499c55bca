import type { ThreadState } from "@langchain/langgraph-sdk";
import { describe, expect, it } from "vitest";
import { toGraphCheckpoint } from "./threads.js";

function stateOf(values: unknown): ThreadState {
  const checkpoint = { thread_id: "t", checkpoint_ns: "", checkpoint_id: "c", checkpoint_map: null };
  return {
    values: values as ThreadState["values"],
    next: [],
    tasks: [],
    checkpoint,
    metadata: {},
    created_at: "2026-01-01T00:00:00Z",
    parent_checkpoint: null,
  };
}

describe("A server's state of a function", () => {
  it("is what it returned, under one key where that has no keys", () => {
    expect(toGraphCheckpoint(stateOf({ essay: "text" }))?.state).toEqual({ essay: "text" });
    expect(toGraphCheckpoint(stateOf("text"))?.state).toEqual({ output: "text" });
  });

  it("is empty while it has returned nothing", () => {
    expect(toGraphCheckpoint(stateOf(null))?.state).toEqual({});
  });
});
