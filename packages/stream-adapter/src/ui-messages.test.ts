import type { Envelope, LogEntry, UpstreamChunk } from "@throughline/ai-core";
import {
  applyEntry,
  createUiMessageEncoder,
  emptyThreadProjection,
  type ThreadProjection,
  type UiMessageChunk,
  uiMessages,
} from "@throughline/reading";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { agent, call, drive, piece } from "./testing/drive.js";
import { randomThread } from "./testing/random-thread.js";
import { toEntries } from "./testing/recording.js";
import { readWithStockClient, shownOf } from "./testing/ui-message-client.js";

// The stock client copies its message for every chunk.
vi.setConfig({ testTimeout: 180_000 });

const RUNS = Number(process.env.THROUGHLINE_PROPERTY_RUNS ?? 60);
const face = createUiMessageEncoder();

interface Told {
  /** Before the entry, and after it. */
  readonly before: ThreadProjection;
  readonly after: ThreadProjection;
  readonly chunks: readonly UiMessageChunk[];
}

function tell(entries: readonly LogEntry[]): Told[] {
  let before = emptyThreadProjection;
  return entries.map((entry) => {
    const told = { before, after: applyEntry(before, entry), chunks: face.chunks(before, entry) };
    before = told.after;
    return told;
  });
}

/** One list for each run, from its start to its end or to where it was lost. */
function byRun(told: readonly Told[]): Told[][] {
  const runs: Told[][] = [];
  for (const entry of told) {
    if (entry.chunks.some(({ type }) => type === "start")) runs.push([]);
    runs.at(-1)?.push(entry);
  }
  return runs;
}

const ownChunks = (run: readonly Told[]) => {
  const [first, ...rest] = run.map(({ chunks }) => chunks);
  // The end of the run before, where that was lost.
  const own = first?.slice(first.findIndex(({ type }) => type === "start")) ?? [];
  return [...own, ...rest.flat()];
};

async function expectAnswer(chunks: readonly UiMessageChunk[], fold: ThreadProjection): Promise<void> {
  const built = await readWithStockClient(chunks);
  const answer = uiMessages(fold).find(({ id }) => id === built.id);
  expect(shownOf(built)).toEqual(shownOf(answer ?? { parts: [] }));
}

describe("the AI SDK's reader", () => {
  it("builds from each run's stream what the thread says of it: texts, thoughts, tools", async () => {
    await fc.assert(
      fc.asyncProperty(fc.noBias(randomThread), async (entries) => {
        for (const run of byRun(tell(entries)))
          await expectAnswer(ownChunks(run), run.at(-1)?.after ?? emptyThreadProjection);
      }),
      { numRuns: Math.ceil(RUNS / 10) },
    );
  });

  it("builds the same when it joins at any position of a run", async () => {
    await fc.assert(
      fc.asyncProperty(fc.noBias(randomThread), fc.nat(), async (entries, any) => {
        for (const run of byRun(tell(entries))) {
          const at = any % run.length;
          const joined = run[at];
          if (!joined?.after.run?.open) continue;
          const chunks = [...face.prelude(joined.after), ...run.slice(at + 1).flatMap((told) => told.chunks)];
          await expectAnswer(chunks, run.at(-1)?.after ?? emptyThreadProjection);
        }
      }),
      { numRuns: Math.ceil(RUNS / 10) },
    );
  });

  it("is told what a recovered run no longer says, so that it can leave it out", async () => {
    const base = { ts: 0, trace_id: "t", run_id: "r", thread_id: "t", parent_id: null, seq: 1 } as const;
    const said = (call_id: string, message_id: string, text: string): Envelope[] => {
      const about = { ...base, call_id, attempt: 0, origin: "live", agent: "g" } as const;
      const call = { model: null, params: {}, node: null, step: null };
      return [
        { ...about, type: "llm_start", payload: { message_id, ...call } },
        { ...about, type: "llm_token", payload: { message_id, text } },
      ];
    };
    const begun = (attempt: number): Envelope => ({
      ...base,
      call_id: "r",
      attempt,
      origin: "live",
      agent: "g",
      type: "run_start",
      payload: {
        graph_id: "langgraph:g",
        input: { messages: [{ id: "u", role: "user", content: "go" }] },
        answers: [],
        started_by: { kind: "client" },
      },
    });
    const after = { ...base, call_id: "r", attempt: 1, origin: "live", agent: "g" } as const;
    const told = tell(
      toEntries([
        begun(0),
        ...said("c1", "m1", "Once"),
        begun(1),
        { ...after, type: "retract", payload: { message_ids: ["m1"], call_ids: [], reason: "recovered" } },
        ...said("c2", "m2", "Twice"),
        { ...after, type: "run_end", payload: { status: "success" } },
      ]),
    );
    const built = await readWithStockClient(told.flatMap(({ chunks }) => chunks));
    expect(built.parts).toContainEqual({ type: "data-retracted", data: { messageIds: ["m1"] } });
    expect(shownOf(built)).toEqual([["m2", expect.objectContaining({ text: "Twice" })]]);
    expect(shownOf(built)).toEqual(
      shownOf(uiMessages(told.at(-1)?.after ?? emptyThreadProjection)[1] ?? { parts: [] }),
    );
  });
});

describe("A tool that the node of its call answers", () => {
  const asks = [call(0, { id: "c1", name: "clock", args: '{"zone":' }), call(0, { args: '"UTC"}' })];
  const answer: UpstreamChunk = {
    ns: [agent],
    mode: "messages",
    data: [
      { type: "tool", id: "t1", tool_call_id: "c1", name: "clock", content: "noon" },
      { langgraph_checkpoint_ns: agent },
    ],
  };

  it.each([
    ["no end at all", []],
    ["the Responses API's status", [piece({ response_metadata: { status: "completed" } })]],
    ["Google's finishReason", [piece({ response_metadata: { finishReason: "STOP" } })]],
    ["Bedrock's stopReason", [piece({ response_metadata: { stopReason: "tool_use" } })]],
    ["Ollama's done_reason", [piece({ response_metadata: { done_reason: "stop" } })]],
  ])("has its result where the provider tells %s", async (_, ends) => {
    const told = tell(toEntries(drive([...asks, ...ends, answer])));
    const { parts } = await readWithStockClient(told.flatMap(({ chunks }) => chunks));
    expect(parts.filter(({ type }) => type === "dynamic-tool")).toMatchObject([
      { toolName: "clock", state: "output-available", input: { zone: "UTC" }, output: "noon" },
    ]);
  });
});
