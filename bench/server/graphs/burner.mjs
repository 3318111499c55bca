import { setImmediate as turn } from "node:timers/promises";
import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

const last = (initial) => Annotation({ reducer: (_, next) => next, default: () => initial });
const State = Annotation.Root({ ...MessagesAnnotation.spec, burnMs: last(1_000), sliceMs: last(200) });

/** A graph that burns CPU: it computes for so long, and lets nothing else of its process run for a slice at a time. */
export const burner = new StateGraph(State)
  .addNode("burn", async ({ burnMs, sliceMs }, { signal }) => {
    const endsAt = Date.now() + burnMs;
    while (Date.now() < endsAt && !signal.aborted) {
      for (const sliceEnd = Date.now() + sliceMs; Date.now() < sliceEnd; ) Math.sqrt(Math.random());
      await turn();
    }
    return {};
  })
  .addEdge(START, "burn")
  .addEdge("burn", END)
  .compile({ name: "burner" });
