import { AIMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

/** A graph of one node that says when it was reached, by a clock that all processes of a machine share. */
export const stamper = new StateGraph(MessagesAnnotation)
  .addNode("stamp", () => ({ messages: [new AIMessage(String(process.hrtime.bigint()))] }))
  .addEdge(START, "stamp")
  .addEdge("stamp", END)
  .compile({ name: "stamper" });
