import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import {
  Annotation,
  Command,
  entrypoint,
  MessagesAnnotation,
  START,
  StateGraph,
  UntrackedValueChannel,
} from "@langchain/langgraph";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { openThread, userMessage } from "../behaviour/thread-session.js";
import { createMemoryCheckpointer } from "../checkpoints/checkpointer.js";
import { describeLoadedGraph, graphRegistry, type RunnableGraph, toRunnableGraph } from "../graphs/graph.js";
import { createInProcProvider } from "./provider.js";

function providerOf(graph: RunnableGraph) {
  const descriptor = describeLoadedGraph({ graphName: "plain" }, graph);
  return createInProcProvider({
    graphs: graphRegistry([{ descriptor, create: () => graph }]),
    checkpointer: new MemorySaver(),
  });
}

/** Messages as `graph.invoke` leaves them. */
async function invoked(graph: RunnableGraph, key = "messages"): Promise<readonly unknown[]> {
  const values = await graph.invoke({ messages: [{ role: "user", content: "hi" }] });
  return values[key].map(({ content }: BaseMessage) => content);
}

const compiled = (builder: unknown): RunnableGraph => {
  const graph = toRunnableGraph(builder);
  if (!graph) throw new Error("no graph");
  return graph;
};

const RETURNS: Readonly<Record<string, () => unknown>> = {
  "three of an update": () => ({
    messages: [new AIMessage("one"), new HumanMessage("two"), new AIMessage("three")],
  }),
  "some of a command": () =>
    new Command({ update: { messages: [new AIMessage("one"), new AIMessage("two")] } }),
  "some of a command's pairs": () =>
    new Command({ update: [["messages", [new AIMessage("one"), new AIMessage("two")]]] }),
  "those of several commands": () => [
    new Command({ update: { messages: [new AIMessage("one")] } }),
    new Command({ update: { messages: new AIMessage("two") } }),
    { messages: [new AIMessage("three"), new AIMessage("four")] },
  ],
  "results of one tool call": () => ({
    messages: [
      new AIMessage({ content: "", tool_calls: [{ id: "c", name: "t", args: {} }] }),
      new ToolMessage({ content: "a", tool_call_id: "c" }),
      new ToolMessage({ content: "b", tool_call_id: "c" }),
    ],
  }),
  "dicts with roles": () => ({
    messages: [
      { role: "assistant", content: "one" },
      { role: "assistant", content: "two" },
    ],
  }),
};

describe("Messages without ids", () => {
  for (const [what, node] of Object.entries(RETURNS)) {
    for (const dialect of ["modes", "events"] as const) {
      it(`are all stored: ${what}, in ${dialect}`, async () => {
        const inner = new StateGraph(MessagesAnnotation).addNode("say", node as never).addEdge(START, "say");
        const outer = new StateGraph(MessagesAnnotation)
          .addNode("inner", inner.compile())
          .addEdge(START, "inner");
        for (const graph of [compiled(inner), compiled(outer)]) {
          const { final } = await openThread(providerOf(graph), "plain").say("hi", { dialect });
          expect(final.messages?.map(({ content }) => content)).toEqual(await invoked(graph));
          expect(new Set(final.messages?.map(({ id }) => id)).size).toBe(final.messages?.length);
        }
      });
    }
  }

  it("are all stored in a channel of another name", async () => {
    const State = Annotation.Root({
      notes: Annotation<BaseMessage[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
    });
    const graph = compiled(
      new StateGraph(State)
        .addNode("note", () => ({ notes: [new AIMessage("one"), new AIMessage("two")] }))
        .addEdge(START, "note"),
    );
    const { final } = await openThread(providerOf(graph), "plain").say("hi");
    expect(final.state?.notes).toMatchObject([{ content: "one" }, { content: "two" }]);
    expect(await invoked(graph, "notes")).toEqual(["one", "two"]);
  });
});

describe("A graph without messages", () => {
  const Joke = Annotation.Root({ topic: Annotation<string>, joke: Annotation<string> });
  const joker = compiled(
    new StateGraph(Joke).addNode("tell", ({ topic }) => ({ joke: `About ${topic}.` })).addEdge(START, "tell"),
  );

  it("ends with the state that it has, and no messages", async () => {
    const provider = providerOf(joker);
    const session = openThread(provider, "plain");
    const { final } = await session.run({
      kind: "input",
      messages: [userMessage("Go")],
      state: { topic: "cats" },
    });
    expect(final).toMatchObject({ status: "success", state: await joker.invoke({ topic: "cats" }) });
    expect(final).not.toHaveProperty("messages");
    expect(await provider.getState(session.thread)).not.toHaveProperty("messages");
  });
});

describe("A graph of the functional API", () => {
  const RETURNED: readonly (readonly [what: string, value: unknown, state: unknown])[] = [
    ["an object", { essay: "E", score: 3 }, { essay: "E", score: 3 }],
    ["a text", "E", { output: "E" }],
    ["a list", [1, 2], { output: [1, 2] }],
    ["nothing", undefined, {}],
  ];
  for (const [what, value, state] of RETURNED) {
    it(`shows what it returns while it runs and after: ${what}`, async () => {
      const graph = compiled(entrypoint({ name: "flow" }, async () => value));
      const provider = providerOf(graph);
      const session = openThread(provider, "plain");
      const { chunks, final } = await session.say("Go");
      expect(await graph.invoke({})).toEqual(value);
      expect(final.state).toEqual(state);
      expect((await provider.getState(session.thread))?.state).toEqual(state);
      const streamed = chunks.filter(({ mode, ns }) => mode === "values" && ns.length === 0).at(-1);
      expect(streamed?.data ?? {}).toEqual(state);
    });
  }
});

describe("An untracked channel", () => {
  it("is part of its run's end, of no checkpoint, and gone in the next run", async () => {
    const State = Annotation.Root({
      n: Annotation<number>,
      answer: () => new UntrackedValueChannel<object>(),
    });
    const graph = compiled(
      new StateGraph(State)
        .addNode("count", ({ n = 0 }: { n?: number }) =>
          n === 0 ? { n: 1, answer: { degrees: 21 } } : { n: 2 },
        )
        .addEdge(START, "count"),
    );
    const session = openThread(providerOf(graph), "plain");
    expect((await session.say("Go")).final.state).toEqual({ n: 1, answer: { degrees: 21 } });
    expect((await session.say("Go")).final.state).toEqual({ n: 2 });
  });
});

describe("A value that can't be stored", () => {
  it("is shown and named when its run ends, and costs no other channel anything", async () => {
    const State = Annotation.Root({ total: Annotation<unknown>, note: Annotation<string> });
    const graph = compiled(
      new StateGraph(State)
        .addNode("sum", () => ({ total: { cents: 5n }, note: "summed" }))
        .addEdge(START, "sum"),
    );
    const descriptor = describeLoadedGraph({ graphName: "plain" }, graph);
    const provider = createInProcProvider({
      graphs: graphRegistry([{ descriptor, create: () => graph }]),
      checkpointer: createMemoryCheckpointer().saver,
    });
    const session = openThread(provider, "plain");
    const { final } = await session.say("Go");
    expect(final).toMatchObject({
      status: "success",
      unstored: ["total"],
      state: { total: { cents: 5 }, note: "summed" },
    });
    expect((await provider.getState(session.thread))?.state).toEqual({ note: "summed" });
  });
});
