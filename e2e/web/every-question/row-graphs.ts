import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { Annotation, END, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { RunnableGraph } from "@throughline/graph-executor";
import { besideCatalog } from "../../server/graphs/beside-catalog.js";
import { ASKED_ROWS, type AskedRow } from "./asked-rows.js";

/** An agent that asks one thing, and says as code what it was given. */
function asks({ value, schema, call }: AskedRow): RunnableGraph {
  return new StateGraph(MessagesAnnotation)
    .addNode("plan", () => ({
      messages: call ? [new AIMessage({ content: "", tool_calls: [{ ...call, type: "tool_call" }] })] : [],
    }))
    .addNode("ask", () => {
      const answer: unknown = schema
        ? interrupt(value, { responseSchema: schema as never })
        : interrupt(value);
      const result = call
        ? [new ToolMessage({ tool_call_id: call.id, name: call.name, content: "done" })]
        : [];
      return { messages: [...result, new AIMessage(`\`${JSON.stringify(answer)}\``)] };
    })
    .addEdge(START, "plan")
    .addEdge("plan", "ask")
    .addEdge("ask", END)
    .compile();
}

const breakpoint = new StateGraph(MessagesAnnotation)
  .addNode("pack", () => ({}))
  .addNode("depart", () => ({ messages: [new AIMessage("`null`")] }))
  .addEdge(START, "pack")
  .addEdge("pack", "depart")
  .addEdge("depart", END)
  .compile({ interruptBefore: ["depart"] });

const Letter = Annotation.Root({
  ...MessagesAnnotation.spec,
  text: Annotation<string>,
  copies: Annotation<number>,
  to: Annotation<string[]>({ reducer: (known, more) => [...known, ...more], default: () => [] }),
});

/** Pauses with a state that can be edited, and says as code what it went on with. */
const letter = new StateGraph(Letter)
  .addNode("write", () => ({ text: "Dear all", copies: 1, to: ["ann"] }))
  .addNode("send", ({ text, copies, to }) => ({
    messages: [new AIMessage(`\`${JSON.stringify({ text, copies, to })}\``)],
  }))
  .addEdge(START, "write")
  .addEdge("write", "send")
  .addEdge("send", END)
  .compile({ interruptBefore: ["send"] });

/** The catalog's graphs, among them one with LangChain's middleware; and beside them one for each row. */
export default besideCatalog(
  {
    breakpoint,
    letter,
    ...Object.fromEntries(Object.entries(ASKED_ROWS).map(([name, row]) => [name, asks(row)])),
  },
  {
    letter: {
      text: { type: "string" },
      copies: { type: "integer", minimum: 1 },
      to: { type: "array", items: { type: "string" } },
    },
  },
);
