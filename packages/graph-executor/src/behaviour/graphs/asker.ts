import { randomUUID } from "node:crypto";
import { AIMessage } from "@langchain/core/messages";
import { Annotation, END, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  answers: Annotation<string[]>({ reducer: (known, more) => [...known, ...more], default: () => [] }),
});

/** Says what it was told, so that a test sees the answer in the conversation too. */
function record(...answers: readonly unknown[]) {
  const texts = answers.map((answer) => JSON.stringify(answer));
  return { answers: texts, messages: [new AIMessage({ id: randomUUID(), content: texts.join(" ") })] };
}

function ask(question: string) {
  return () => record(interrupt({ question }));
}

const nested = new StateGraph(State)
  .addNode("inside", ask("nested?"))
  .addEdge(START, "inside")
  .addEdge("inside", END)
  .compile({ name: "nested" });

/** The last message says how it asks: `one`, `two` at once, `nested` in a subgraph, or `twice` in one node. */
export const asker = new StateGraph(State)
  .addNode("one", ask("one?"))
  .addNode("other", ask("other?"))
  .addNode("nested", nested)
  .addNode("twice", () => record(interrupt({ question: "first?" }), interrupt({ question: "second?" })))
  .addConditionalEdges(START, (state) => routesOf(state.messages.at(-1)?.text ?? ""), [
    "one",
    "other",
    "nested",
    "twice",
  ])
  .addEdge("one", END)
  .addEdge("other", END)
  .addEdge("nested", END)
  .addEdge("twice", END)
  .compile({ name: "asker" });

function routesOf(text: string): ("one" | "other" | "nested" | "twice")[] {
  if (text === "two") return ["one", "other"];
  return text === "nested" || text === "twice" ? [text] : ["one"];
}
