import { AIMessage, AIMessageChunk, SystemMessage } from "@langchain/core/messages";
import { END, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { createModel, modelContextSchema } from "@throughline/langgraph-models";
import { ConversationState } from "../conversation-state.js";
import type { GraphDeps, RunnableGraph } from "../graph-definition.js";
import { persistence } from "../persistence.js";
import { chatScript } from "./script.js";
import { chatTools } from "./tools.js";

const INSTRUCTIONS =
  "You are a helpful assistant. Use the clock, the calculator and the glossary rather than guessing. Answer briefly.";

type State = typeof ConversationState.State;

/** A loop of model and tools, written out so that the model is made anew, from the run's own config, for every call. */
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
