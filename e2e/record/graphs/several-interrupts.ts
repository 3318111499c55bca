import { AIMessage } from "@langchain/core/messages";
import { Annotation, END, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

const Approvals = Annotation.Root({
  ...MessagesAnnotation.spec,
  budget: Annotation<string>(),
  date: Annotation<string>(),
});

/** Two nodes of one step ask at once, so one run ends with two open interrupts and one resume answers both. */
export const graph = new StateGraph(Approvals)
  .addNode("ask_budget", () => ({ budget: answerTo({ question: "How much may it cost?", kind: "budget" }) }))
  .addNode("ask_date", () => ({ date: answerTo({ question: "When shall it be?", kind: "date" }) }))
  .addNode("confirm", ({ budget, date }) => ({
    messages: [new AIMessage({ id: "confirmation", content: `Booked for ${date}, at most ${budget}.` })],
  }))
  .addEdge(START, "ask_budget")
  .addEdge(START, "ask_date")
  .addEdge(["ask_budget", "ask_date"], "confirm")
  .addEdge("confirm", END)
  .compile({ name: "several-interrupts" });

function answerTo(question: { question: string; kind: string }): string {
  return String(interrupt(question));
}
