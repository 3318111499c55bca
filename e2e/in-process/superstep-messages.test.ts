import { AIMessage, type BaseMessage, HumanMessage, RemoveMessage } from "@langchain/core/messages";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import {
  Annotation,
  Command,
  entrypoint,
  MemorySaver,
  MessagesAnnotation,
  REMOVE_ALL_MESSAGES,
  START,
  StateGraph,
  task,
} from "@langchain/langgraph";
import { InMemoryCache } from "@langchain/langgraph-checkpoint";
import type { Dialect, Envelope, Message } from "@throughline/ai-core";
import { read, readGraphItem, toMessages } from "@throughline/coerce";
import {
  applyEnvelope,
  createAgUiEncoder,
  createAiEventsEncoder,
  createUiMessageEncoder,
  currentMessages,
  emptyThreadProjection,
  type ThreadProjection,
} from "@throughline/reading";
import { createStreamAdapter } from "@throughline/stream-adapter";
import { describe, expect, it } from "vitest";

const MODES = ["messages", "updates", "values", "custom", "tasks", "checkpoints", "tools"] as const;
const State = Annotation.Root({ ...MessagesAnnotation.spec, note: Annotation<string> });
type Node = (state: typeof State.State) => Promise<object>;

const words = (messages: readonly Message[]) =>
  messages.map(({ id, role, content }) => `${id}|${role}|${String(content)}`);
const updated = (messages: readonly unknown[]) => ({ messages });

/** Nodes one after the other, each a superstep; what a viewer sees after each is compared with that step's state. */
async function compare(dialect: Dialect, nodes: readonly Node[], cached = false) {
  let builder: ReturnType<typeof grow> = grow(new StateGraph(State), "n0", nodes[0] as Node);
  nodes.slice(1).forEach((node, index) => {
    builder = grow(builder, `n${index + 1}`, node);
  });
  nodes.forEach((_, index) => {
    (builder as unknown as { addEdge(from: string, to: string): void }).addEdge(
      index === 0 ? START : `n${index - 1}`,
      `n${index}`,
    );
  });
  function grow(graph: StateGraph<typeof State.spec>, name: string, node: Node) {
    return graph.addNode(name, node, cached ? { cachePolicy: {} } : undefined) as unknown as StateGraph<
      typeof State.spec
    >;
  }
  const graph = builder.compile({ checkpointer: new MemorySaver(), cache: new InMemoryCache() });
  if (cached) await run(graph, dialect, "t0");
  return run(graph, dialect, "t1");
}

interface Streamable {
  stream(input: object, config: object): Promise<AsyncIterable<unknown>>;
  streamEvents(input: object, config: object): AsyncIterable<unknown>;
  getState(config: object): Promise<{ readonly values: unknown }>;
}

async function run(compiled: unknown, dialect: Dialect, thread: string) {
  const graph = compiled as Streamable;
  const translator = createStreamAdapter({
    context: { runId: "r1", threadId: thread, traceId: "trace", attempt: 0, agent: "graph" },
    dialect,
    profile: "user",
    sampling: false,
  });
  const asked: Message = { id: "u1", role: "user", content: "hi" };
  const envelopes: Envelope[] = translator.start(
    { graph_id: "g", input: { messages: [asked] }, answers: [], started_by: { kind: "client" } },
    0,
  );
  let fold: ThreadProjection = envelopes.reduce(applyEnvelope, emptyThreadProjection);
  const steps: { readonly seen: string[]; readonly held: string[] }[] = [];
  const config = { configurable: { thread_id: thread }, subgraphs: true };
  const input = { messages: [new HumanMessage({ id: "u1", content: "hi" })] };
  const items =
    dialect === "modes"
      ? await graph.stream(input, { ...config, streamMode: [...MODES] })
      : graph.streamEvents(input, {
          ...config,
          version: "v2",
          streamMode: ["updates", "values", "custom", "tasks", "checkpoints"],
        });
  for await (const item of items) {
    const isInner = dialect === "events" && read(item, "event") === "on_chain_stream" && isRootChunk(item);
    const chunk = isInner
      ? readGraphItem(read(read(item, "data"), "chunk"))
      : dialect === "events"
        ? { ns: [], mode: "events", data: item }
        : readGraphItem(item);
    if (!chunk) continue;
    const added = translator.push(chunk, 0);
    envelopes.push(...added);
    fold = added.reduce(applyEnvelope, fold);
    const held = chunk.mode === "values" && chunk.ns.length === 0 && read(chunk.data, "messages");
    if (Array.isArray(held))
      steps.push({ seen: words(currentMessages(fold)), held: words(toMessages(held)) });
  }
  const { values } = await graph.getState(config);
  const messages = toMessages(read(values, "messages"));
  const end = translator.finish(
    { ok: true, status: "success", interrupts: [], messages, checkpointId: "c" },
    fold,
    1,
  );
  return { steps, envelopes: [...envelopes, ...end], end, fold: end.reduce(applyEnvelope, fold), messages };
}

const isRootChunk = (item: unknown) =>
  Array.isArray(read(read(item, "data"), "chunk")) &&
  read(read(item, "metadata"), "langgraph_checkpoint_ns") === undefined;

const model = new FakeListChatModel({ responses: ["streamed words"] });

const cases: readonly [string, readonly Node[]][] = [
  ["a Command's messages", [async () => new Command({ update: updated([new AIMessage("from a command")]) })]],
  ["role dicts", [async () => updated([{ role: "assistant", content: "plain" }])]],
  [
    "a node's human message",
    [async () => updated([new HumanMessage("by a node")]), async () => updated([new AIMessage("b")])],
  ],
  [
    "a message rewritten under its id",
    [
      async () => updated([new AIMessage({ id: "a", content: "1234" })]),
      async () => updated([new AIMessage({ id: "a", content: "****" })]),
    ],
  ],
  [
    "a streamed message that its node returns with other words",
    [
      async () => {
        const answer = await model.invoke("x");
        return updated([new AIMessage({ ...(answer.id && { id: answer.id }), content: "redacted words" })]);
      },
    ],
  ],
  [
    "a streamed message that its node returns under another id",
    [
      async () =>
        updated([new AIMessage({ id: "mine", content: String((await model.invoke("x")).content) })]),
    ],
  ],
  [
    "RemoveMessage",
    [
      async () =>
        updated([
          new AIMessage({ id: "a", content: "gone soon" }),
          new AIMessage({ id: "b", content: "stays" }),
        ]),
      async () => updated([new RemoveMessage({ id: "a" })]),
    ],
  ],
  [
    "REMOVE_ALL_MESSAGES",
    [
      async () => updated([new AIMessage({ id: "a", content: "gone soon" })]),
      async () =>
        updated([
          new RemoveMessage({ id: REMOVE_ALL_MESSAGES }),
          new HumanMessage({ id: "s", content: "sum" }),
        ]),
    ],
  ],
  [
    "a message put before one that streamed",
    [
      async () => {
        const answer: BaseMessage = await model.invoke("x");
        return updated([new HumanMessage({ id: "h", content: "first" }), answer]);
      },
    ],
  ],
];

describe.each(["modes", "events"] as const)("after each superstep, read as %s, a viewer sees", (dialect) => {
  it.each(cases)("%s", async (_, nodes) => {
    const { steps, end, fold, messages } = await compare(dialect, nodes);
    expect(steps.length).toBeGreaterThan(nodes.length);
    for (const { seen, held } of steps) expect(seen).toEqual(held);
    expect(words(currentMessages(fold))).toEqual(words(messages));
    // Nothing is left for the run's end to put right.
    expect(end.map(({ type }) => type)).toEqual(["state_snapshot", "usage", "run_end"]);
    expect(end[0]?.payload).toEqual({ checkpoint_id: "c" });
  });
});

// Not read as events: there LangGraph rejects a promise that nothing awaits, once a superstep had nothing to execute.
it("shows the message of a node that is answered from its cache", async () => {
  const node = async () => updated([new AIMessage({ id: "k", content: "cached" })]);
  const { steps } = await compare("modes", [node], true);
  expect(steps.at(-1)?.seen).toEqual(["u1|user|hi", "k|assistant|cached"]);
});

it("shows a Command's message on each face before the next node runs", async () => {
  const { envelopes } = await compare("modes", [
    async () => new Command({ update: updated([new AIMessage({ id: "c", content: "from a command" })]) }),
    async () => ({ note: "done" }),
  ]);
  const next = envelopes.findIndex(
    ({ type, payload }) => type === "step_start" && read(payload, "node") === "n1",
  );
  const early = envelopes.slice(0, next);
  const agUi = createAgUiEncoder({ threadName: "t", line: "0.0", interrupts: "legacy" });
  const ui = createUiMessageEncoder();
  const ai = createAiEventsEncoder({ executorType: "inproc" });
  let fold = emptyThreadProjection;
  const told: unknown[] = [];
  early.forEach((envelope, index) => {
    const entry = { epoch: "e", seq: index + 1, envelope };
    told.push(
      ...agUi.frames(fold, entry).map(({ event }) => event),
      ...ui.chunks(fold, entry),
      ...ai.events(fold, entry),
    );
    fold = applyEnvelope(fold, envelope);
  });
  expect(told).toContainEqual({ type: "TEXT_MESSAGE_CONTENT", messageId: "c", delta: "from a command" });
  expect(told).toContainEqual({ type: "text-delta", id: "c", delta: "from a command" });
  expect(told).toContainEqual({ type: "text_delta", delta: "from a command" });
});

it("withdraws the words of a try that failed once the next one is in the state", async () => {
  let tries = 0;
  const flaky = async () => {
    tries += 1;
    if (tries === 1) {
      let pieces = 0;
      for await (const _ of await model.stream("x")) if (++pieces === 3) break;
      throw new Error("try again");
    }
    return updated([await new FakeListChatModel({ responses: ["second try"] }).invoke("x")]);
  };
  const graph = new StateGraph(State)
    .addNode("n0", flaky, { retryPolicy: { maxAttempts: 2, initialInterval: 1, logWarning: false } })
    .addEdge(START, "n0")
    .compile({ checkpointer: new MemorySaver() });
  const { steps, envelopes } = await run(graph, "modes", "t1");
  const models = envelopes.filter(({ type }) => type === "llm_start");
  expect(models).toHaveLength(2);
  expect(steps.at(-1)?.seen).toEqual(steps.at(-1)?.held);
});

it("shows a task of the Functional API as one step, with its model call inside", async () => {
  const write = task("write", async () => String((await model.invoke("x")).content));
  const flow = entrypoint({ name: "flow", checkpointer: new MemorySaver() }, async () => await write());
  const { envelopes } = await run(flow, "modes", "t1");
  const starts = envelopes.filter(({ type }) => type === "step_start");
  expect(starts.map(({ payload }) => read(payload, "node"))).toEqual(["flow", "write"]);
  const call = envelopes.find(({ type }) => type === "llm_start");
  expect(call?.parent_id).toBe(starts[1]?.call_id);
  expect(envelopes.filter(({ type }) => type === "tool_start")).toEqual([]);
});
