import { randomUUID } from "node:crypto";
import { AIMessage } from "@langchain/core/messages";
import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  text: Annotation<string>,
  to: Annotation<string[]>({ reducer: (known, more) => [...known, ...more], default: () => [] }),
});

/** Writes a letter and pauses before it is sent, so that its state can be edited: a plain channel and one with a reducer. */
export const letter = new StateGraph(State)
  .addNode("write", () => ({ text: "Dear all", to: ["ann"] }))
  .addNode("send", ({ text, to }) => {
    if (to.length === 0) throw new Error("A letter needs a reader.");
    return { messages: [new AIMessage({ id: randomUUID(), content: `${text} to ${to.join(", ")}` })] };
  })
  .addEdge(START, "write")
  .addEdge("write", "send")
  .addEdge("send", END)
  .compile({ name: "letter", interruptBefore: ["send"] });
