import { MemorySaver } from "@langchain/langgraph";
import type { Envelope, GraphFinal, Message } from "@throughline/ai-core";
import { readGraphItem, toMessages, toPlainObject } from "@throughline/coerce";
import { LANGGRAPH_CATALOG } from "@throughline/langgraph-graphs";
import { applyEntry, currentMessages, emptyThreadProjection } from "@throughline/reading";
import { createStreamAdapter } from "@throughline/stream-adapter";
import { expect, it } from "vitest";

const keys = {
  resolveKey: async () => {
    throw new Error("The offline model needs no key.");
  },
};

const MODES = ["messages", "updates", "values", "custom", "tasks", "checkpoints", "tools"] as const;

/** Live message objects, live state references, callbacks in configs: what only a graph in this process hands over. */
it.each([
  ["chat", "What is 2+3, and what time is it in Europe/Paris?"],
  ["ponderer", "Why do tides turn?"],
  ["travel", "Plan a trip to San Francisco."],
  ["researcher", "Research how lighthouses changed shipping."],
])("%s, run in this process, streams what its checkpoint holds", async (graphName, text) => {
  const definition = LANGGRAPH_CATALOG.find((entry) => entry.graphName === graphName);
  if (!definition) return expect.unreachable();
  const graph = definition.create({ keys, checkpointer: new MemorySaver() });
  const config = { configurable: { thread_id: "t1" } };
  const translator = createStreamAdapter({
    context: { runId: "r1", threadId: "t1", traceId: "trace", attempt: 0, agent: graphName },
    dialect: "modes",
    profile: "user",
  });
  const question: Message = { id: "u1", role: "user", content: text };
  const start = {
    graph_id: `langgraph:${graphName}`,
    input: { messages: [question] },
    answers: [],
    started_by: { kind: "client" as const },
  };
  const envelopes: Envelope[] = translator.start(start, 0);
  const input = { messages: [{ type: "human", id: "u1", content: text }] };
  const stream = await graph.stream(input, { ...config, streamMode: [...MODES], subgraphs: true });
  for await (const item of stream) {
    const chunk = readGraphItem(item);
    if (chunk) envelopes.push(...translator.push(chunk, envelopes.length));
  }

  const state = await graph.getState(config, { subgraphs: true });
  const values = toPlainObject(state.values);
  const messages = toMessages(values.messages);
  const waiting = state.tasks.flatMap((task: { interrupts: unknown[] }) => task.interrupts);
  const final: GraphFinal = {
    ok: true,
    status: waiting.length > 0 ? "interrupted" : "success",
    interrupts: [],
    messages,
  };
  const fold = envelopes
    .map((envelope, index) => ({ epoch: "e", seq: index + 1, envelope }))
    .reduce(applyEntry, emptyThreadProjection);
  const rest = translator.finish(final, fold, envelopes.length);

  // What streamed is already right: the checkpoint has nothing to correct.
  expect(
    rest.flatMap((envelope) => (envelope.type === "state_snapshot" ? [envelope.payload.messages] : [])),
  ).toEqual([undefined]);
  expect(currentMessages(fold).some((message) => message.role === "assistant")).toBe(true);
  expect(rest.filter(({ type }) => type === "interrupt")).toHaveLength(waiting.length);
  expect([...envelopes, ...rest].filter(({ type }) => type === "warning")).toEqual([]);
});
