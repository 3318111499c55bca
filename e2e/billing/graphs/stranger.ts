// A project that has one line of ours, and otherwise models as everyone makes them.
import "@throughline/langgraph-models/labelled";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ChatOpenAI as StrangersModel } from "@langchain/openai";

/** Shared by all runs, which wait for each other. */
const model = new StrangersModel({ model: "cheap", maxRetries: 2, maxConcurrency: 1 });

/** Asks a model twice: for a whole answer, and for a stream of its own. */
export const stranger = new StateGraph(MessagesAnnotation)
  .addNode("ask", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addNode("stream", async ({ messages }) => {
    let text = "";
    for await (const chunk of await new StrangersModel({ model: "cheap" }).stream(messages.slice(0, 1))) {
      text += chunk.text;
    }
    return { messages: [{ role: "assistant", content: text }] };
  })
  .addEdge(START, "ask")
  .addEdge("ask", "stream")
  .addEdge("stream", END)
  .compile();
