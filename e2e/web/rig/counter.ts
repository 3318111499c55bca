import { AIMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

let made = 0;
const failed = new Set<string>();

/** Numbers its answers, so that no two are alike, and fails the first time it hears a message that begins with "fail". */
export const counter = new StateGraph(MessagesAnnotation)
  .addNode("count", ({ messages }) => {
    const { id = "", text } = messages.at(-1) ?? {};
    if (text?.startsWith("fail") && !failed.has(id)) {
      failed.add(id);
      throw new RangeError("there is no such number");
    }
    made += 1;
    return { messages: [new AIMessage(`Answer number ${made} to ${text}.`)] };
  })
  .addEdge(START, "count")
  .compile({ name: "counter" });
