import { FakeListChatModel } from "@langchain/core/utils/testing";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

/** Your own graph; this one says back what it hears, letter by letter. */
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("echo", async ({ messages }) => {
    const model = new FakeListChatModel({ responses: [`You said: ${messages.at(-1)?.text}`], sleep: 20 });
    return { messages: [await model.invoke(messages)] };
  })
  .addEdge(START, "echo")
  .compile();
