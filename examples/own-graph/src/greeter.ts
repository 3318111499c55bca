import { AIMessage } from "@langchain/core/messages";
import { interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

/** Asks for a name before it answers, so that a run of it waits for a person. */
function greet() {
  const name: unknown = interrupt({ message: "What is your name?" });
  return { messages: [new AIMessage(`Hello, ${String(name)}.`)] };
}

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("greet", greet)
  .addEdge(START, "greet")
  .compile();
