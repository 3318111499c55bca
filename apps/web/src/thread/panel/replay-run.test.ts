import { readFileSync } from "node:fs";
import {
  type AgentEvent,
  currentMessages,
  emptyProjection,
  project,
  type ThreadView,
} from "@throughline/agent-client";
import type { Envelope, EnvelopeType, PayloadOf } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { createReplay, recordRun } from "./replay";

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
        { tool_name: "search", kind: "tool", result: "Leaves", status: "ok", message_id: "m2" },
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

  it("begins where the log does, of a run whose beginning is no longer kept", () => {
    const view = createReplay(recordRun(LOG.slice(6), "r2")).viewAt(2);
    expect(texts(view)).toEqual(["assistant: Roses are"]);
    expect(view.run).toMatchObject({ serviceRunId: "r2", status: "running" });
  });

  it("shows files where they were shown", () => {
    const picture = (id: string) => ({
      type: "image",
      url: `throughline:attachment/${id}`,
      mime_type: "image/png",
    });
    const log = [
      entry("run_start", {
        graph_id: "langgraph:poet",
        input: { messages: [{ id: "u", role: "user", content: [picture("a")] }] },
        answers: [],
        started_by: { kind: "client" },
      }),
      begin(),
      token({ text: "Look:" }),
      token({ part: picture("b") }),
      stop(),
    ];
    const [asked, answer] = currentMessages(createReplay(recordRun(log, "r2")).viewAt(5));
    expect(asked?.content).toMatchObject([
      { type: "image", source: { type: "url", value: "throughline:attachment/a" } },
    ]);
    expect(answer?.content).toBe("Look:\n\n![image/png](throughline:attachment/b)\n\n");
  });

  it("says which call failed, and why the run did", () => {
    const node = { call_id: "n", parent_id: "r2" };
    const cause = { name: "Error", message: "No tea left", class: "node", node: "n" } as const;
    const log = [
      start("r2", "Tea"),
      entry("step_start", { node: "n", step: 1 }, node),
      entry("error", cause, node),
      entry("step_end", { node: "n", status: "error" }, node),
      entry("run_end", {
        status: "error",
        error: { code: "run_failed", message: "The run failed.", class: "node", node: "n" },
      }),
    ];
    const view = createReplay(recordRun(log, "r2")).viewAt(5);
    expect(view.calls[1]).toMatchObject({ kind: "node", status: "error", error: { message: "No tea left" } });
    expect(view.run?.error).toEqual({
      code: "run_failed",
      message: "The run failed.",
      class: "node",
      node: "n",
    });
  });
});

const GOLDENS = new URL(
  "../../../../../packages/stream-adapter/fixtures/goldens/recordings/",
  import.meta.url,
);
/** First turns: what else is recorded goes on from a state that is not. */
const RECORDED = [
  "cancel",
  "chat-parallel-tools",
  "chat-tool-error",
  "media",
  "model-error",
  "nested-subgraphs",
  "parallel-nodes",
  "poet",
  "ponderer",
  "researcher",
  "several-interrupts",
  "travel-interrupt",
];

function readLines<T>(file: string): T[] {
  const lines = readFileSync(new URL(file, GOLDENS), "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line));
}

/** As a page saw it that was open all along, and before a run that broke off lost its last words: a replay keeps them. */
function liveView(name: string): ThreadView {
  const frames = readLines<AgentEvent & { readonly id: string }>(`${name}.modes.ag-ui.jsonl`).filter(
    ({ type }) => type !== "MESSAGES_SNAPSHOT",
  );
  const [claimed, [granted]] = project(emptyProjection, { kind: "claim", source: "detail-connect" });
  if (granted?.kind !== "granted") throw new Error("Expected the only stream to be granted.");
  const [{ view }] = project(claimed, {
    kind: "frames",
    authority: granted.authority,
    frames: frames.map(({ id, ...event }) => ({ id, event })),
  });
  return view;
}

/** Both files count the ids that LangGraph makes up, each from one: here they are counted as they are shown. */
function shown(view: ThreadView): unknown {
  const { state, run, usage, interrupts } = view;
  const ids = new Map<string, string>();
  const text = JSON.stringify({ messages: currentMessages(view), state, run, usage, interrupts });
  return JSON.parse(
    text.replaceAll(/#\d+/g, (id) => {
      ids.set(id, ids.get(id) ?? `id ${ids.size + 1}`);
      return ids.get(id) ?? id;
    }),
  );
}

describe("the replay of a recorded run", () => {
  it.each(RECORDED)("shows what a page was shown live: %s", (name) => {
    const about = { ts: 0, trace_id: "trace", thread_id: "thread", run_id: "run-1", attempt: 0 };
    const log = readLines<Envelope>(`${name}.modes.envelopes.jsonl`).map((one) => ({ ...about, ...one }));
    const recording = recordRun(log, "run-1");
    const view = createReplay(recording).viewAt(recording.envelopes.length);
    const live = liveView(name);
    expect(shown(view)).toEqual(shown(live));
  });
});
