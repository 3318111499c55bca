import { once } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

const NOTES_PER_TURN = 20;

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  notes: Annotation({ reducer: (_, next) => next, default: () => 0 }),
});

/** A graph that writes so many notes, each an entry of the log, and then sits there until it is stopped. */
export function createScribe(options = {}) {
  return new StateGraph(State)
    .addNode("write", async ({ notes }, { writer, signal }) => {
      for (let note = 0; note < notes; note++) {
        writer({ note, text: "What was seen at this hour, in a line of some length." });
        if (note % NOTES_PER_TURN === 0) await turn();
      }
      if (!signal.aborted) await once(signal, "abort");
      return {};
    })
    .addEdge(START, "write")
    .addEdge("write", END)
    .compile({ name: "scribe", ...options });
}

export const scribe = createScribe();
