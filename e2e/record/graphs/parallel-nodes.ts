import {
  END,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { createModel, envKeyResolver } from "@throughline/langgraph-models";

function voice(text: string) {
  return async (state: typeof MessagesAnnotation.State, config: LangGraphRunnableConfig) => {
    const model = await createModel(config, {
      keys: envKeyResolver(),
      offline: () => [{ kind: "text", text }],
    });
    return { messages: [await model.invoke(state.messages, config)] };
  };
}

/** Two nodes of one step stream at the same time, so that their tokens arrive interleaved. */
export const graph = new StateGraph(MessagesAnnotation)
  .addNode(
    "optimist",
    voice("The glass is half full, and the tap still works, so nobody here goes thirsty today."),
  )
  .addNode(
    "pessimist",
    voice("The glass is half empty, the tap drips, and somebody will have to pay for it."),
  )
  .addNode("referee", voice("It is the same glass."))
  .addEdge(START, "optimist")
  .addEdge(START, "pessimist")
  .addEdge(["optimist", "pessimist"], "referee")
  .addEdge("referee", END)
  .compile({ name: "parallel-nodes" });
