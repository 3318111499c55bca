import { SystemMessage } from "@langchain/core/messages";
import { END, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";
import { createModel, modelContextSchema } from "@throughline/langgraph-models";
import { ConversationState } from "../conversation-state.js";
import type { GraphDeps, RunnableGraph } from "../graph-definition.js";
import { persistence } from "../persistence.js";
import { poetScript } from "./script.js";

const INSTRUCTIONS =
  "You are a poet. Answer every message with one short poem on what it asks for: a title, two stanzas, plain words.";

export function createPoetGraph(deps: GraphDeps): RunnableGraph {
  const write = async (state: typeof ConversationState.State, config: LangGraphRunnableConfig) => {
    const model = await createModel(config, { keys: deps.keys, offline: poetScript });
    return { messages: [await model.invoke([new SystemMessage(INSTRUCTIONS), ...state.messages], config)] };
  };
  return new StateGraph({ state: ConversationState, output: ConversationState, context: modelContextSchema })
    .addNode("poet", write)
    .addEdge(START, "poet")
    .addEdge("poet", END)
    .compile({ name: "poet", ...persistence(deps) });
}
