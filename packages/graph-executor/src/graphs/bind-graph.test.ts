import { Annotation, entrypoint, START, StateGraph } from "@langchain/langgraph";
import { InMemoryStore, MemorySaver } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { bindGraph, type RunnableGraph, toRunnableGraph } from "./graph.js";

const State = Annotation.Root({ n: Annotation<number> });
const builder = new StateGraph(State).addNode("one", ({ n }) => ({ n: n + 1 })).addEdge(START, "one");
const config = { configurable: { thread_id: "t" } };

/** What LangGraph's constructor and its validation write into. */
function shapeOf(graph: RunnableGraph): string {
  return JSON.stringify([Reflect.get(graph, "triggerToNodes"), Object.keys(graph.channels)]);
}

describe("A bound graph", () => {
  it("keeps its checkpoints and store to itself and leaves the graph it was made of alone", async () => {
    const graph = builder.compile({ name: "counter" });
    const before = shapeOf(graph);
    const topic = graph.channels.__pregel_tasks;
    const bound = bindGraph(graph, { checkpointer: new MemorySaver(), store: new InMemoryStore() });
    expect(await bound.invoke({ n: 1 }, config)).toEqual({ n: 2 });
    expect((await bound.getState(config)).values).toEqual({ n: 2 });
    expect(bound.getName()).toBe("counter");
    expect(graph.checkpointer).toBeUndefined();
    expect(graph.store).toBeUndefined();
    expect(graph.channels.__pregel_tasks).toBe(topic);
    expect(shapeOf(graph)).toBe(before);
  });

  it("takes the place of whatever checkpointer the graph was compiled with", async () => {
    for (const checkpointer of [false, new MemorySaver()]) {
      const bound = bindGraph(builder.compile({ checkpointer }), { checkpointer: new MemorySaver() });
      await bound.invoke({ n: 5 }, config);
      expect((await bound.getState(config)).values).toEqual({ n: 6 });
    }
  });

  it("may be a function of the functional API", async () => {
    const doubled = entrypoint({ name: "doubled" }, async (n: number) => n * 2);
    const bound = bindGraph(toRunnableGraph(doubled) ?? builder.compile(), {
      checkpointer: new MemorySaver(),
    });
    expect(await bound.invoke(4, config)).toBe(8);
  });
});

describe("toRunnableGraph", () => {
  it("takes a compiled graph, a builder, and an agent that holds its graph", () => {
    const graph = builder.compile();
    expect(toRunnableGraph(graph)).toBe(graph);
    expect(toRunnableGraph({ graph })).toBe(graph);
    expect(toRunnableGraph(builder)?.getName()).toBe("LangGraph");
  });

  it("takes nothing else", () => {
    for (const value of [null, undefined, 7, {}, { compile: () => 7 }, () => builder]) {
      expect(toRunnableGraph(value)).toBeUndefined();
    }
  });
});
