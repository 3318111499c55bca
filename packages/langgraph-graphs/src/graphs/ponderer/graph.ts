import { SystemMessage } from "@langchain/core/messages";
import { END, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";
import { createModel, modelContextSchema } from "@throughline/langgraph-models";
import { ConversationState } from "../conversation-state.js";
import type { GraphDeps, RunnableGraph } from "../graph-definition.js";
import { persistence } from "../persistence.js";
import { pondererScript } from "./script.js";

const INSTRUCTIONS =
  "You think before you answer. Weigh the ways to read the question, then answer in one plain paragraph.";

export function createPondererGraph(deps: GraphDeps): RunnableGraph {
  const ponder = async (state: typeof ConversationState.State, config: LangGraphRunnableConfig) => {
    const model = await createModel(config, { keys: deps.keys, offline: pondererScript });
    return { messages: [await model.invoke([new SystemMessage(INSTRUCTIONS), ...state.messages], config)] };
  };
  return new StateGraph({ state: ConversationState, output: ConversationState, context: modelContextSchema })
    .addNode("ponderer", ponder)
    .addEdge(START, "ponderer")
    .addEdge("ponderer", END)
    .compile({ name: "ponderer", ...persistence(deps) });
}
