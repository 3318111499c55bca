import { setTimeout as sleep } from "node:timers/promises";
import { AIMessage } from "@langchain/core/messages";
import {
  Annotation,
  END,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  count: Annotation<number>({ reducer: (_, next) => next, default: () => 10 }),
  paceMs: Annotation<number>({ reducer: (_, next) => next, default: () => 0 }),
  /** A silence before the first number. */
  pauseMs: Annotation<number>({ reducer: (_, next) => next, default: () => 0 }),
});

/** Counts aloud, at a pace. The padding makes events of different lengths, with characters of several bytes. */
export const counter = new StateGraph(State)
  .addNode("aloud", async ({ count, paceMs, pauseMs }, config: LangGraphRunnableConfig) => {
    const wait = (ms: number) => sleep(ms, undefined, config.signal ? { signal: config.signal } : {});
    if (pauseMs > 0) await wait(pauseMs);
    for (let number = 1; number <= count; number++) {
      if (paceMs > 0) await wait(paceMs);
      config.writer?.({ number, padding: "é✓".repeat(number % 37) });
    }
    return { messages: [new AIMessage({ id: `counted-${count}`, content: `I counted to ${count}.` })] };
  })
  .addEdge(START, "aloud")
  .addEdge("aloud", END)
  .compile({ name: "counter" });
