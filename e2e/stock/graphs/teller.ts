import { ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Annotation, END, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { z } from "zod";
import { PacedModel } from "./paced-model.js";

interface Script {
  /** Words of the answer. */
  readonly words?: number;
  readonly paceMs?: number;
  /** Looks something up before it answers. */
  readonly looksUp?: boolean;
  readonly asks?: boolean;
  readonly fails?: boolean;
}

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  script: Annotation<Script>({ reducer: (_, next) => next, default: () => ({}) }),
  told: Annotation<number>({ reducer: (_, next) => next, default: () => 0 }),
});

const lookUp = tool(({ place }) => `It rains in ${place}.`, {
  name: "look_up",
  description: "The weather of a place.",
  schema: z.object({ place: z.string() }),
});

/** Tells as many words as the script says, at its pace; may look something up before, and ask or fail after. */
export const teller = new StateGraph(State)
  .addNode("consider", async ({ script }, config) => {
    if (!script.looksUp) return {};
    const call = { type: "tool_call_chunk" as const, index: 0 };
    const chunks = [
      { tool_call_chunks: [{ ...call, id: `call-${crypto.randomUUID()}`, name: "look_up", args: "" }] },
      ...['{"pla', 'ce":"Bo', 'nn"}'].map((args) => ({ tool_call_chunks: [{ ...call, args }] })),
    ];
    return { messages: [await new PacedModel(chunks, script.paceMs ?? 0).invoke([], config)] };
  })
  .addNode("tools", new ToolNode([lookUp]))
  .addNode("tell", async ({ script, messages }, config) => {
    const seen = messages.some((message) => message instanceof ToolMessage) ? "Rain: " : "";
    const words = Array.from({ length: script.words ?? 5 }, (_, index) => ({ content: `word-${index} ` }));
    const model = new PacedModel([{ content: `${seen}listen. ` }, ...words], script.paceMs ?? 0);
    return { messages: [await model.invoke([], config)], told: words.length };
  })
  .addNode("after", ({ script }) => {
    if (script.fails) throw new Error("the well is dry");
    if (script.asks) interrupt({ message: "Shall I go on?", options: ["yes", "no"] });
    return {};
  })
  .addEdge(START, "consider")
  .addConditionalEdges("consider", ({ script }) => (script.looksUp ? "tools" : "tell"), ["tools", "tell"])
  .addEdge("tools", "tell")
  .addEdge("tell", "after")
  .addEdge("after", END)
  .compile({ name: "teller" });
