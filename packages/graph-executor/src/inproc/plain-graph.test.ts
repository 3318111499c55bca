import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { Annotation, Command, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { openThread } from "../behaviour/thread-session.js";
import { describeLoadedGraph } from "../graphs/describe-graph.js";
import { graphRegistry } from "../graphs/graph-registry.js";
import { type RunnableGraph, toRunnableGraph } from "../graphs/runnable-graph.js";
import { createInProcProvider } from "./inproc-provider.js";

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
