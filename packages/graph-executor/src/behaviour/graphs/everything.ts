import { randomUUID } from "node:crypto";
import { AIMessage, AIMessageChunk } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import {
  Annotation,
  END,
  interrupt,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { OfflineChatModel } from "@throughline/langgraph-models";
import { z } from "zod";
import { speak } from "./speak.js";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  answers: Annotation<string[]>({ reducer: (known, more) => [...known, ...more], default: () => [] }),
});

function speaker(text: string) {
  return async (_: unknown, config: LangGraphRunnableConfig) => ({
    messages: [await speak({ text }, config)],
  });
}

function pair(name: string) {
  return new StateGraph(MessagesAnnotation)
    .addNode("first", speaker(`${name} first`))
    .addNode("second", speaker(`${name} second`))
    .addEdge(START, "first")
    .addEdge("first", "second")
    .addEdge("second", END);
}

const called = pair("called").compile({ name: "called" });

const echo = tool(async ({ text }) => `echo ${text}`, {
  name: "echo",
  description: "Says a text again.",
  schema: z.object({ text: z.string() }),
});

const useTool = async (state: typeof MessagesAnnotation.State, config: LangGraphRunnableConfig) => {
  const isAnswered = state.messages.at(-1)?.getType() === "tool";
  const model = new OfflineChatModel({
    script: () =>
      isAnswered
        ? [{ kind: "text", text: "tool is done" }]
        : [{ kind: "toolCall", name: "echo", args: { text: "hello" } }],
    paceMs: 0,
    callSite: randomUUID(),
  });
  return { messages: [await model.invoke(state.messages, config)] };
};

const withTool = new StateGraph(MessagesAnnotation)
  .addNode("agent", useTool)
  .addNode("tools", new ToolNode([echo]))
  .addEdge(START, "agent")
  .addConditionalEdges("agent", (state) => (wantsTool(state) ? "tools" : END), ["tools", END])
  .addEdge("tools", "agent")
  .compile({ name: "with_tool" });

function wantsTool({ messages }: typeof MessagesAnnotation.State): boolean {
  const last = messages.at(-1);
  const isModels = AIMessage.isInstance(last) || AIMessageChunk.isInstance(last);
  return isModels && (last.tool_calls?.length ?? 0) > 0;
}

const PARTS = ["node", "two_calls", "subgraph", "unstored", "caller", "with_tool"] as const;

/**
 * Every way in which a graph writes messages, side by side: a node, two calls in one node, a subgraph, a subgraph without
 * checkpoints, a graph called as a function, tools in a loop; then a question, and two last words. `skip` skips it all.
 */
export const everything = new StateGraph(State)
  .addNode("node", speaker("node speaks"))
  .addNode("two_calls", async (_, config: LangGraphRunnableConfig) => ({
    messages: [await speak({ text: "call one" }, config), await speak({ text: "call two" }, config)],
  }))
  .addNode("subgraph", pair("inner").compile({ name: "subgraph" }))
  .addNode("unstored", pair("unstored").compile({ name: "unstored", checkpointer: false }))
  .addNode("caller", async (_, config: LangGraphRunnableConfig) => {
    const { messages } = await called.invoke({ messages: [] }, config);
    return { messages };
  })
  .addNode("with_tool", withTool)
  .addNode("ask", () => ({ answers: [JSON.stringify(interrupt({ question: "go on?" }))] }))
  .addNode("asked", speaker("thanks"))
  .addNode("last", speaker("the end"))
  .addConditionalEdges(START, (state) => (state.messages.at(-1)?.text === "skip" ? END : [...PARTS]), [
    ...PARTS,
    END,
  ])
  .addEdge([...PARTS], "ask")
  .addEdge("ask", "asked")
  .addEdge("asked", "last")
  .addEdge("last", END)
  .compile({ name: "everything" });
