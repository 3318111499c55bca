// The same graph in this process: bare, and behind our provider and stream adapter.
import { randomUUID } from "node:crypto";
import { MemorySaver } from "@langchain/langgraph";
import { createInProcProvider, graphRegistry } from "@throughline/graph-executor";
import { emptyThreadProjection } from "@throughline/reading";
import { createStreamAdapter } from "@throughline/stream-adapter";
import { createTypist } from "./typist.mjs";

const ALL_MODES = ["messages", "updates", "values", "custom", "tasks", "checkpoints", "tools"];

/**
 * @typedef {{ firstTokenMs: number, tokens: number }} Typed what one run took and gave
 * @typedef {(typing: import("./typist.mjs").Typing) => Promise<Typed>} Subject
 */

/** @returns {Subject} */
export function bareGraph(streamMode = ALL_MODES) {
  const graph = createTypist({ checkpointer: new MemorySaver() });
  return async (typing) => {
    const startedAt = performance.now();
    const typed = { firstTokenMs: 0, tokens: 0 };
    const chunks = await graph.stream(inputOf(typing), {
      configurable: { thread_id: randomUUID() },
      streamMode,
      subgraphs: true,
      durability: "sync",
    });
    for await (const [, mode] of chunks) if (mode === "messages") count(typed, startedAt);
    return typed;
  };
}

/** @returns {Subject} */
export function ourProvider() {
  const provider = createInProcProvider({
    graphs: graphRegistry([{ descriptor: DESCRIPTOR, create: () => createTypist() }]),
    checkpointer: new MemorySaver(),
  });
  return async (typing) => {
    const startedAt = performance.now();
    const typed = { firstTokenMs: 0, tokens: 0 };
    const request = requestOf(typing);
    const translator = createStreamAdapter({
      context: {
        runId: request.runId,
        threadId: request.threadId,
        traceId: "bench",
        attempt: 0,
        agent: "typist",
      },
      dialect: "modes",
      profile: "user",
    });
    const read = (envelopes) => {
      for (const { type } of envelopes) {
        if (type === "llm_token" && typed.firstTokenMs === 0)
          typed.firstTokenMs = performance.now() - startedAt;
      }
    };
    const { stream, final } = provider.runGraph(request);
    const started = {
      graph_id: request.graphId,
      input: { messages: [] },
      answers: [],
      started_by: { kind: "client" },
    };
    read(translator.start(started, Date.now()));
    for await (const chunk of stream) {
      const now = Date.now();
      const due = translator.nextFlushAt();
      if (due !== undefined && due <= now) read(translator.flush(now));
      read(translator.push(chunk, now));
      if (chunk.mode === "messages") typed.tokens++;
    }
    const ended = await final;
    if (!ended.ok) throw ended.error;
    read(translator.finish(ended, emptyThreadProjection, Date.now()));
    return typed;
  };
}

const DESCRIPTOR = {
  graphId: "langgraph:typist",
  graphName: "typist",
  name: "Typist",
  description: "",
  capabilities: ["chat"],
  commands: [],
  inputSchema: { type: "object" },
  outputSchema: { type: "object" },
};

function inputOf(typing) {
  return { messages: [{ role: "user", id: randomUUID(), content: "Type" }], ...typing };
}

function requestOf(typing) {
  const { messages, ...state } = inputOf(typing);
  return {
    runId: randomUUID(),
    attempt: 0,
    ingressRequestId: "bench",
    caller: { billingAccountId: "bench", virtualKeyId: "none", traceId: "bench" },
    graphId: DESCRIPTOR.graphId,
    threadId: randomUUID(),
    stateKey: "typist/bench",
    model: "default",
    start: { kind: "input", messages, state },
    tools: [],
    context: [],
    profile: "user",
    signal: new AbortController().signal,
  };
}

function count(typed, startedAt) {
  if (typed.tokens++ === 0) typed.firstTokenMs = performance.now() - startedAt;
}
