import { AIMessage, AIMessageChunk, SystemMessage } from "@langchain/core/messages";
import { END, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { createModel, modelContextSchema } from "@throughline/langgraph-models";
import {
  ConversationState,
  conversationInputSchema,
  conversationStateSchema,
  type GraphDefinition,
  type GraphDeps,
  persistence,
  type RunnableGraph,
} from "../shared.js";
import { chatScript } from "./script.js";
import { chatTools } from "./tools.js";

export const chatDefinition: GraphDefinition = {
  graphName: "chat",
  name: "Chat",
  description: "Talks over many turns, and uses a clock, a calculator and a glossary when they help.",
  capabilities: ["chat", "tools"],
  commands: [],
  suggestions: [
    "What is 6 * 7, and what is the time in Tokyo?",
    "Look up Throughline",
    "Tell me about Japan",
  ],
  inputSchema: conversationInputSchema,
  outputSchema: conversationStateSchema,
  create: (deps) => createChatGraph(deps),
};

const INSTRUCTIONS =
  "You are a helpful assistant. Use the clock, the calculator and the glossary rather than guessing. Answer briefly.";

type State = typeof ConversationState.State;

/** A loop of model and tools, written out so that each call makes its model from the run's own config. */
export function createChatGraph(deps: GraphDeps, now: () => Date = () => new Date()): RunnableGraph {
  const tools = chatTools(now);
  const agent = async (state: State, config: LangGraphRunnableConfig) => {
    const model = await createModel(config, { keys: deps.keys, offline: chatScript });
    const withTools = model.bindTools?.(tools) ?? model;
    return {
      messages: [await withTools.invoke([new SystemMessage(INSTRUCTIONS), ...state.messages], config)],
    };
  };
  return new StateGraph({ state: ConversationState, output: ConversationState, context: modelContextSchema })
    .addNode("agent", agent)
    .addNode("tools", new ToolNode(tools))
    .addEdge(START, "agent")
    .addConditionalEdges("agent", (state: State) => (wantsTools(state) ? "tools" : END), ["tools", END])
    .addEdge("tools", "agent")
    .compile({ name: "chat", ...persistence(deps) });
}

function wantsTools(state: State): boolean {
  const last = state.messages.at(-1);
  return (
    (AIMessage.isInstance(last) || AIMessageChunk.isInstance(last)) && (last.tool_calls?.length ?? 0) > 0
  );
}
