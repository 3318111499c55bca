import { randomUUID } from "node:crypto";
import { AIMessage } from "@langchain/core/messages";
import { Annotation, END, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { z } from "zod";

const CHOICE = z.object({ size: z.enum(["s", "m"]) });

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

/** Fails on the answer `wrong`, after LangGraph has stored it. */
function pick() {
  const answer: unknown = interrupt({ question: "pick?" });
  if (answer === "wrong") throw new Error("This answer can't be used.");
  return record(answer);
}

const nested = new StateGraph(State)
  .addNode("inside", ask("nested?"))
  .addEdge(START, "inside")
  .addEdge("inside", END)
  .compile({ name: "nested" });

const pickyNested = new StateGraph(State)
  .addNode("inside", pick)
  .addEdge(START, "inside")
  .addEdge("inside", END)
  .compile({ name: "picky_nested" });

/** The last message says how it asks: `one`, `two` at once, `nested` in a subgraph, `twice` in one node, with a
 * `schema` of the answer, or so that a wrong answer makes the node fail: `picky`, `picky nested`, and `picky two` at once. */
export const asker = new StateGraph(State)
  .addNode("one", ask("one?"))
  .addNode("other", ask("other?"))
  .addNode("nested", nested)
  .addNode("schema", () => record(interrupt({ question: "schema?" }, { responseSchema: CHOICE })))
  .addNode("ready", () => ({}))
  .addNode("pick", pick)
  .addNode("picky_nested", pickyNested)
  .addNode("twice", () => record(interrupt({ question: "first?" }), interrupt({ question: "second?" })))
  .addConditionalEdges(START, (state) => routesOf(state.messages.at(-1)?.text ?? ""), [
    "one",
    "other",
    "nested",
    "twice",
    "schema",
    "ready",
    "pick",
    "picky_nested",
  ])
  .addEdge("ready", "pick")
  .addEdge("pick", END)
  .addEdge("picky_nested", END)
  .addEdge("schema", END)
  .addEdge("one", END)
  .addEdge("other", END)
  .addEdge("nested", END)
  .addEdge("twice", END)
  .compile({ name: "asker" });

type Route = "one" | "other" | "nested" | "twice" | "schema" | "ready" | "pick" | "picky_nested";

function routesOf(text: string): Route[] {
  switch (text) {
    case "two":
      return ["one", "other"];
    case "picky":
      return ["ready"];
    case "picky two":
      return ["pick", "other"];
    case "picky nested":
      return ["picky_nested"];
    case "nested":
    case "twice":
    case "schema":
      return [text];
    default:
      return ["one"];
  }
}
