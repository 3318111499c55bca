import type { RunnableConfig } from "@langchain/core/runnables";
import { Annotation, interrupt, MemorySaver, Send, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { toRunnableGraph } from "../graphs/graph.js";
import { readThread, waitingQuestions } from "./thread-state.js";

/** Counts how many checkpoints are read at the same time. */
class CountingSaver extends MemorySaver {
  most = 0;
  #reading = 0;

  override async getTuple(config: RunnableConfig) {
    this.#reading += 1;
    this.most = Math.max(this.most, this.#reading);
    try {
      return await super.getTuple(config);
    } finally {
      this.#reading -= 1;
    }
  }
}

it("reads the checkpoints of many open questions side by side, and keeps the questions in order", async () => {
  const saver = new CountingSaver();
  const asked = Array.from({ length: 40 }, (_, n) => n);
  const compiled = new StateGraph(Annotation.Root({ n: Annotation<number> }))
    .addNode("ask", ({ n }) => ({ n: interrupt(n) as number }))
    .addConditionalEdges(START, () => asked.map((n) => new Send("ask", { n })))
    .compile({ checkpointer: saver });
  await compiled.invoke({ n: 0 }, { configurable: { thread_id: "t" } });
  const graph = toRunnableGraph(compiled);
  saver.most = 0;
  const reading = await readThread(graph, saver, "t");
  expect(waitingQuestions(reading).map(({ value }) => value)).toEqual(asked);
  expect(saver.most).toBe(asked.length);
});
