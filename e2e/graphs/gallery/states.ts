import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
} from "@langchain/core/messages";
import {
  Annotation,
  END,
  MessagesAnnotation,
  MessagesValue,
  MessagesZodMeta,
  messagesStateReducer,
  REMOVE_ALL_MESSAGES,
  ReducedValue,
  START,
  StateGraph,
  StateSchema,
  UntrackedValue,
} from "@langchain/langgraph";
import { registry } from "@langchain/langgraph/zod";
import { z } from "zod";
import { sayer } from "./scripted-model.js";

/** The first graph of many tutorials: a topic in, a joke out, and no messages. */
const Joke = Annotation.Root({ topic: Annotation<string>, joke: Annotation<string> });
export const noMessages = new StateGraph(Joke)
  .addNode("tell", async ({ topic }) => ({ joke: (await sayer(`A joke about ${topic}.`).invoke("go")).text }))
  .addEdge(START, "tell")
  .addEdge("tell", END)
  .compile();

/** A conversation under another name. */
const Chat = Annotation.Root({
  conversation: Annotation<BaseMessage[]>({ reducer: messagesStateReducer, default: () => [] }),
  topic: Annotation<string>,
});
export const otherName = new StateGraph(Chat)
  .addNode("say", async ({ topic }) => ({ conversation: [await sayer(`About ${topic}.`).invoke("go")] }))
  .addEdge(START, "say")
  .addEdge("say", END)
  .compile();

function chain(...nodes: readonly ((state: typeof MessagesAnnotation.State) => unknown)[]) {
  const graph = new StateGraph(MessagesAnnotation).addSequence(
    nodes.map((node, index): [string, never] => [`node${index}`, node as never]),
  );
  return graph.addEdge(START, "node0" as never).compile();
}

export const idlessMessages = chain(
  () => ({ messages: [new AIMessage("one"), new AIMessage("two"), new AIMessage("three")] }),
  () => ({ messages: new AIMessage("four") }),
);

export const roleDictionaries = chain(
  () => ({ messages: [{ role: "assistant", content: "from a dictionary" }] }),
  () => ({ messages: [["assistant", "from a tuple"]] }),
  async () => ({ messages: [await sayer("from a model").invoke("go")] }),
);

export const humanByNode = chain(
  () => ({ messages: [new HumanMessage("I am asked by a node.")] }),
  async ({ messages }) => ({ messages: [await sayer("And I reply.").invoke(messages)] }),
);

export const systemMessages = chain(
  () => ({ messages: [new SystemMessage({ id: "rule", content: "Be short." })] }),
  async ({ messages }) => ({ messages: [await sayer("Yes.").invoke(messages)] }),
);

export const removeMessage = chain(
  () => ({ messages: [new AIMessage({ id: "draft", content: "A draft." })] }),
  () => ({ messages: [new RemoveMessage({ id: "draft" })] }),
  () => ({ messages: [new AIMessage({ id: "final", content: "The final text." })] }),
);

export const removeAll = chain(
  () => ({ messages: [new AIMessage({ id: "old", content: "Old words." })] }),
  () => ({
    messages: [
      new RemoveMessage({ id: REMOVE_ALL_MESSAGES }),
      new AIMessage({ id: "fresh", content: "A fresh start." }),
    ],
  }),
);

export const rewrittenId = chain(
  () => ({ messages: [new AIMessage({ id: "same", content: "First version." })] }),
  () => ({ messages: [new AIMessage({ id: "same", content: "Second version." })] }),
  () => ({ messages: [new AIMessage({ id: "other", content: "The end." })] }),
);

const Counted = Annotation.Root({
  ...MessagesAnnotation.spec,
  total: Annotation<number>({ reducer: (sum, more) => sum + more, default: () => 0 }),
  best: Annotation<string>({ reducer: (a, b) => (b.length > a.length ? b : a), default: () => "" }),
});
export const customReducers = new StateGraph(Counted)
  .addNode("a", () => ({ total: 2, best: "long" }))
  .addNode("b", () => ({ total: 3, best: "longest" }))
  .addNode("end", ({ total }) => ({ messages: [new AIMessage(`Total ${total}.`)] }))
  .addEdge(START, "a")
  .addEdge(START, "b")
  .addEdge("a", "end")
  .addEdge("b", "end")
  .addEdge("end", END)
  .compile();

const Untracked = new StateSchema({
  messages: MessagesValue,
  kept: z.string().default(""),
  scratch: new UntrackedValue(z.string()),
});
export const untracked = new StateGraph(Untracked)
  .addNode("fill", () => ({ kept: "kept", scratch: "scratch" }))
  .addNode("use", ({ scratch }) => ({ messages: [new AIMessage(`Used ${scratch}.`)] }))
  .addEdge(START, "fill")
  .addEdge("fill", "use")
  .addEdge("use", END)
  .compile();

const Zod = z.object({
  messages: z.array(z.custom<BaseMessage>()).register(registry, MessagesZodMeta),
  mood: z.enum(["good", "bad"]).default("good"),
});
export const zodState = new StateGraph(Zod)
  .addNode("feel", () => ({ mood: "bad" as const, messages: [new AIMessage("I feel bad.")] }))
  .addEdge(START, "feel")
  .addEdge("feel", END)
  .compile();

const Schema = new StateSchema({
  messages: MessagesValue,
  notes: new ReducedValue(
    z.array(z.string()).default(() => []),
    {
      inputSchema: z.string(),
      reducer: (known, note) => [...known, note],
    },
  ),
});
export const stateSchema = new StateGraph(Schema)
  .addNode("note", () => ({ notes: "noted" }))
  .addNode("say", ({ notes }) => ({ messages: [new AIMessage(`Notes: ${notes.join()}.`)] }))
  .addEdge(START, "note")
  .addEdge("note", "say")
  .addEdge("say", END)
  .compile();

/** Separate input and output schemas: the draft is nobody's business but the graph's. */
const Whole = Annotation.Root({
  ...MessagesAnnotation.spec,
  draft: Annotation<string>,
  verdict: Annotation<string>,
});
export const privateState = new StateGraph({
  state: Whole,
  input: MessagesAnnotation,
  output: Annotation.Root({ ...MessagesAnnotation.spec, verdict: Annotation<string> }),
})
  .addNode("write", () => ({ draft: "secret" }))
  .addNode("judge", ({ draft }) => ({
    verdict: `${draft.length} letters`,
    messages: [new AIMessage("Judged.")],
  }))
  .addEdge(START, "write")
  .addEdge("write", "judge")
  .addEdge("judge", END)
  .compile();

class Point {
  constructor(
    readonly x: number,
    readonly y: number,
  ) {}
}
const Rich = Annotation.Root({
  ...MessagesAnnotation.spec,
  map: Annotation<Map<string, number>>,
  set: Annotation<Set<string>>,
  date: Annotation<Date>,
  point: Annotation<Point>,
});
export const richValues = new StateGraph(Rich)
  .addNode("fill", () => ({
    map: new Map([["a", 1]]),
    set: new Set(["x"]),
    date: new Date(0),
    point: new Point(1, 2),
  }))
  .addNode("say", () => ({ messages: [new AIMessage("Filled.")] }))
  .addEdge(START, "fill")
  .addEdge("fill", "say")
  .addEdge("say", END)
  .compile();

const File = Annotation.Root({ ...MessagesAnnotation.spec, file: Annotation<{ bytes: Uint8Array }> });
export const bytesValue = new StateGraph(File)
  .addNode("fill", () => ({
    file: { bytes: new Uint8Array([1, 2, 3]) },
    messages: [new AIMessage("Stored.")],
  }))
  .addEdge(START, "fill")
  .addEdge("fill", END)
  .compile();

const Big = Annotation.Root({ ...MessagesAnnotation.spec, big: Annotation<bigint> });
export const bigintValue = new StateGraph(Big)
  .addNode("fill", () => ({ big: 12n, messages: [new AIMessage("Big.")] }))
  .addEdge(START, "fill")
  .addEdge("fill", END)
  .compile();
