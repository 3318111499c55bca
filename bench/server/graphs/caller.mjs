import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";

/** A graph that calls a model over HTTP, as most do. */
export const caller = new StateGraph(MessagesAnnotation)
  .addNode("call", async ({ messages }) => ({
    messages: [await new ChatOpenAI({ model: "bench" }).invoke(messages)],
  }))
  .addEdge(START, "call")
  .addEdge("call", END)
  .compile({ name: "caller" });
