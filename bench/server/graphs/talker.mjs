import { randomUUID } from "node:crypto";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

/** Messages of a conversation that one run makes, the question that starts it included. */
export const CONVERSATION = 20;

const SAID =
  "A line of a conversation as people have them, neither short nor long, said and then answered. ".repeat(3);

/** A graph that fills its thread with a conversation at once. */
export const talker = new StateGraph(MessagesAnnotation)
  .addNode("talk", () => ({
    messages: Array.from({ length: CONVERSATION - 1 }, (_, turn) => {
      // Without ids of their own, LangGraph takes messages of one node for versions of one.
      const said = { id: randomUUID(), content: `${turn}: ${SAID}` };
      return turn % 2 === 0 ? new AIMessage(said) : new HumanMessage(said);
    }),
  }))
  .addEdge(START, "talk")
  .addEdge("talk", END)
  .compile({ name: "talker" });
