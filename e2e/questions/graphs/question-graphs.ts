import { setTimeout as pause } from "node:timers/promises";
import { AIMessage } from "@langchain/core/messages";
import {
  Annotation,
  END,
  interrupt,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import type { Json, JsonObject } from "@throughline/ai-core";

/** What a test tells the graph to ask. */
export interface Asked {
  readonly value: Json;
  readonly schema?: JsonObject;
}

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  answer: Annotation<unknown>,
});
type State = typeof State.State;

/** LangGraph writes the question as it is told to, beside its schema; the answer is the graph's state. */
function ask({ messages }: State) {
  const { value, schema }: Asked = JSON.parse(messages.at(-1)?.text ?? "{}");
  const answer: unknown = schema ? interrupt(value, { responseSchema: schema as never }) : interrupt(value);
  return { answer, messages: [new AIMessage({ content: JSON.stringify(answer) })] };
}

export const shapes = new StateGraph(State)
  .addNode("ask", ask)
  .addEdge(START, "ask")
  .addEdge("ask", END)
  .compile({ name: "shapes" });

const Journey = Annotation.Root({
  ...State.spec,
  steps: Annotation<string[]>({ reducer: (known, more) => [...known, ...more], default: () => [] }),
});

/** Pauses before its second node. */
export const breakpoint = new StateGraph(Journey)
  .addNode("first", () => ({ answer: "half way", steps: ["first"] }))
  .addNode("second", () => ({ answer: "arrived", steps: ["second"] }))
  .addEdge(START, "first")
  .addEdge("first", "second")
  .addEdge("second", END)
  .compile({ name: "breakpoint", interruptBefore: ["second"] });

const Answers = Annotation.Root({
  ...MessagesAnnotation.spec,
  answers: Annotation<string[]>({ reducer: (known, more) => [...known, ...more], default: () => [] }),
});

/** Longer than a test takes to stop it, and short enough to be waited for where a server takes it up again. */
const LONG_WORK_MS = 10_000;

function pick(question: string) {
  return async (_: typeof Answers.State, { signal }: LangGraphRunnableConfig) => {
    const answer = String(interrupt(question));
    if (answer === "wrong") throw new Error("This answer can't be used.");
    if (answer === "wait") {
      const stopped = new Promise((resolve) => signal?.addEventListener("abort", resolve));
      await Promise.race([stopped, pause(LONG_WORK_MS)]);
    }
    return { answers: [`${question} ${answer}`] };
  };
}

/** Two questions at once; a wrong answer makes its node fail, and `wait` keeps it busy until it is stopped. */
export const pair = new StateGraph(Answers)
  .addNode("left", pick("left"))
  .addNode("right", pick("right"))
  .addEdge(START, "left")
  .addEdge(START, "right")
  .addEdge("left", END)
  .addEdge("right", END)
  .compile({ name: "pair" });
