import { currentMessages } from "@throughline/agent-client";
import type { Envelope, EnvelopeType, PayloadOf } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { createReplay, recordRun } from "./replay-run";

let ts = 0;
function entry<T extends EnvelopeType>(
  type: T,
  payload: PayloadOf<T>,
  about: Partial<Envelope> = {},
): Envelope {
  ts += 1;
  return {
    type,
    ts,
    trace_id: "t",
    run_id: "r2",
    thread_id: "th",
    attempt: 0,
    parent_id: null,
    call_id: "r2",
    seq: ts,
    origin: "live",
    agent: "langgraph:poet",
    payload,
    ...about,
  } as Envelope;
}

const start = (runId: string, text: string) =>
  entry(
    "run_start",
    {
      graph_id: "langgraph:poet",
      input: { messages: [{ id: `${runId}-u`, role: "user", content: text }] },
      answers: [],
      started_by: { kind: "client" },
    },
    { run_id: runId, call_id: runId },
  );
const model = { call_id: "n/llm/1", parent_id: "n" };
const begin = (about: Partial<Envelope> = model) =>
  entry("llm_start", { message_id: "m1", model: "gpt", params: {}, node: "n", step: 1 }, about);
const token = (payload: Omit<PayloadOf<"llm_token">, "message_id">) =>
  entry("llm_token", { message_id: "m1", ...payload }, model);
const stop = () =>
  entry(
    "llm_end",
    { message_id: "m1", usage: null, finish_reason: "stop", model: null, status: "ok" },
    model,
  );

const LOG: readonly Envelope[] = [
  start("r1", "First"),
  entry("state_snapshot", { state: { count: 1 } }, { run_id: "r1" }),
  entry("state_delta", { ops: [{ op: "replace", path: "/count", value: 2 }] }, { run_id: "r1" }),
  entry("run_end", { status: "success" }, { run_id: "r1" }),
  start("r2", "Second"),
  begin(),
  token({ text: "Roses" }),
  token({ text: " are" }),
  entry("state_delta", { ops: [{ op: "replace", path: "/count", value: 3 }] }),
  stop(),
  entry("run_end", { status: "success" }),
];

const texts = (view: ReturnType<ReturnType<typeof createReplay>["viewAt"]>) =>
  currentMessages(view).map(({ role, content }) => `${role}: ${content}`);

describe("the replay of a run", () => {
  it("keeps the last words of a run that was stopped, which its end takes back from the conversation", () => {
    const stopped = recordRun(
      [
        start("r2", "Go on"),
        begin(),
        token({ text: "Roses" }),
        entry("state_snapshot", { state: {}, messages: [{ id: "r2-u", role: "user", content: "Go on" }] }),
        entry("run_end", { status: "cancelled" }),
      ],
      "r2",
    );
    expect(texts(createReplay(stopped).viewAt(5))).toEqual(["user: Go on", "assistant: Roses"]);
  });

  it("holds that run's own words, and the state it began with", () => {
    const recording = recordRun(LOG, "r2");
    expect(recording.envelopes).toHaveLength(7);
    const replay = createReplay(recording);
    expect(replay.viewAt(0).state).toEqual({ count: 2 });
    expect(texts(replay.viewAt(1))).toEqual(["user: Second"]);
  });

  it("stands wherever it is put, forward and back", () => {
    const recording = recordRun(LOG, "r2");
    const replay = createReplay(recording);
    const order = [7, 3, 4, 0, 5, 1, 6, 2];
    for (const count of order) {
      const fresh = createReplay(recording).viewAt(count);
      const view = replay.viewAt(count);
      expect(texts(view)).toEqual(texts(fresh));
      expect(view.state).toEqual(fresh.state);
      expect(view.calls).toEqual(fresh.calls);
      expect(view.run).toEqual(fresh.run);
    }
    expect(texts(replay.viewAt(4))).toEqual(["user: Second", "assistant: Roses are"]);
    expect(replay.viewAt(5).state).toEqual({ count: 3 });
    expect(replay.viewAt(7).run?.status).toBe("success");
  });

  it("shows thoughts, calls and results", () => {
    const log = [
      start("r2", "Look it up"),
      begin(),
      token({ reasoning: "Hm" }),
      token({ tool_call: { index: 0, id: "c1", name: "search", args: '{"q":' } }),
      token({ tool_call: { index: 0, args: '"tea"}' } }),
      stop(),
      entry(
        "tool_start",
        { tool_name: "search", kind: "tool", node: "n", args: { q: "tea" } },
        { call_id: "c1" },
      ),
      entry(
        "tool_end",
        { tool_name: "search", kind: "tool", result: "Leaves", status: "ok" },
        { call_id: "c1" },
      ),
    ];
    const view = createReplay(recordRun(log, "r2")).viewAt(log.length);
    expect(texts(view)).toEqual(["user: Look it up", "reasoning: Hm", "assistant: ", "tool: Leaves"]);
    expect(currentMessages(view)[2]?.toolCalls).toEqual([{ id: "c1", name: "search", args: '{"q":"tea"}' }]);
    expect(view.calls.map(({ kind, status }) => `${kind} ${status}`)).toEqual([
      "run running",
      "model ok",
      "tool ok",
    ]);
  });

  it("takes back what a crashed attempt showed", () => {
    const log = [
      ...LOG.slice(4, 8),
      start("r2", "Second"),
      entry("retract", { message_ids: ["m1"], call_ids: [], reason: "crash" }),
    ];
    const replay = createReplay(recordRun(log, "r2"));
    expect(texts(replay.viewAt(4))).toContain("assistant: Roses are");
    expect(texts(replay.viewAt(6))).toEqual(["user: Second"]);
    expect(replay.viewAt(6).calls.find(({ kind }) => kind === "model")?.status).toBe("lost");
  });

  it("goes on where a change builds on what is no longer kept", () => {
    const log = [
      start("r2", "Second"),
      entry("state_delta", { ops: [{ op: "replace", path: "/gone/deep", value: 1 }] }),
      begin(),
      token({ text: "Still" }),
    ];
    expect(texts(createReplay(recordRun(log, "r2")).viewAt(4))).toContain("assistant: Still");
  });
});
