import {
  END,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { speak } from "./speak.js";

function speaker(text: string) {
  return async (_: unknown, config: LangGraphRunnableConfig) => ({
    messages: [await speak({ text }, config)],
  });
}

const inner = new StateGraph(MessagesAnnotation)
  .addNode("first", speaker("inner first"))
  .addNode("second", speaker("inner second"))
  .addEdge(START, "first")
  .addEdge("first", "second")
  .addEdge("second", END)
  .compile({ name: "inner" });

/** Two speakers and a subgraph side by side, then one that has the last word. */
export const parallel = new StateGraph(MessagesAnnotation)
  .addNode("left", speaker("left speaks"))
  .addNode("right", speaker("right speaks a little longer"))
  .addNode("inner", inner)
  .addNode("join", speaker("all have spoken"))
  .addEdge(START, "left")
  .addEdge(START, "right")
  .addEdge(START, "inner")
  .addEdge(["left", "right", "inner"], "join")
  .addEdge("join", END)
  .compile({ name: "parallel" });
