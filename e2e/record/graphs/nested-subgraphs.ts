import {
  Annotation,
  END,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { createModel, envKeyResolver } from "@throughline/langgraph-models";

const Notes = Annotation.Root({ ...MessagesAnnotation.spec, depth: Annotation<number | undefined>() });
type State = typeof Notes.State;

function speaker(text: string) {
  return async (state: State, config: LangGraphRunnableConfig) => {
    const model = await createModel(config, {
      keys: envKeyResolver(),
      offline: () => [{ kind: "text", text }],
    });
    return { messages: [await model.invoke(state.messages, config)], depth: (state.depth ?? 0) + 1 };
  };
}

const innermost = new StateGraph(Notes)
  .addNode("dig", speaker("The third level found a vein of copper in the wet clay."))
  .addEdge(START, "dig")
  .addEdge("dig", END)
  .compile({ name: "innermost" });

const middle = new StateGraph(Notes)
  .addNode("survey", speaker("The second level surveys before it digs."))
  .addNode("innermost", innermost)
  .addEdge(START, "survey")
  .addEdge("survey", "innermost")
  .addEdge("innermost", END)
  .compile({ name: "middle" });

/** Subgraphs inside subgraphs: a model speaks at every level of the namespace. */
export const graph = new StateGraph(Notes)
  .addNode("middle", middle)
  .addNode("report", speaker("From the surface: two levels reported, and there is copper."))
  .addEdge(START, "middle")
  .addEdge("middle", "report")
  .addEdge("report", END)
  .compile({ name: "nested-subgraphs" });
