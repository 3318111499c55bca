import { AIMessage } from "@langchain/core/messages";
import {
  Annotation,
  END,
  entrypoint,
  getPreviousState,
  getWriter,
  interrupt,
  type LangGraphRunnableConfig,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
  task,
} from "@langchain/langgraph";
import { InMemoryCache } from "@langchain/langgraph-checkpoint";
import { sayer } from "./scripted-model.js";

const Steps = Annotation.Root({
  ...MessagesAnnotation.spec,
  steps: Annotation<string[]>({ reducer: (known, more) => [...known, ...more], default: () => [] }),
});
type Steps = typeof Steps.State;

export const nodeCache = new StateGraph(Steps)
  .addNode(
    "slow",
    () => ({ steps: ["slow"], messages: [new AIMessage({ id: "cached", content: "From slow." })] }),
    {
      cachePolicy: { keyFunc: () => "same" },
    },
  )
  .addNode("end", async () => ({ messages: [await sayer("Done.").invoke("go")] }))
  .addEdge(START, "slow")
  .addEdge("slow", "end")
  .addEdge("end", END)
  .compile({ cache: new InMemoryCache() });

const attempts = new Map<string, number>();

export const retryPolicy = new StateGraph(Steps)
  .addNode(
    "flaky",
    async ({ messages }: Steps, config: LangGraphRunnableConfig) => {
      const reply = await sayer("The answer is here.").invoke(messages);
      const key = `${config.configurable?.thread_id}/${messages.length}`;
      const attempt = (attempts.get(key) ?? 0) + 1;
      attempts.set(key, attempt);
      if (attempt === 1) throw new Error("The first attempt fails.");
      return { messages: [reply] };
    },
    {
      retryPolicy: {
        maxAttempts: 2,
        initialInterval: 1,
        jitter: false,
        logWarning: false,
        retryOn: () => true,
      },
    },
  )
  .addEdge(START, "flaky")
  .addEdge("flaky", END)
  .compile();

const write = task(
  "write",
  async (topic: string) => (await sayer(`An essay about ${topic}.`).invoke("go")).text,
);

export const functional = entrypoint(
  { name: "functional" },
  async (input: { messages: { text: string }[] }) => {
    const before = getPreviousState<{ essays: string[] }>()?.essays ?? [];
    const essay = await write(`part ${before.length + 1}`);
    return { essays: [...before, essay], asked: input.messages.length };
  },
);

export const functionalAsks = entrypoint({ name: "functionalAsks" }, async () => {
  const essay = await write("cats");
  const verdict: unknown = interrupt({ essay });
  return { essay, verdict };
});

const shared = new StateGraph(Steps)
  .addNode("inside", async () => ({
    steps: ["inside"],
    messages: [await sayer("From inside.").invoke("go")],
  }))
  .addEdge(START, "inside")
  .addEdge("inside", END)
  .compile();

export const sharedSubgraph = new StateGraph(Steps)
  .addNode("before", () => ({ steps: ["before"] }))
  .addNode("sub", shared)
  .addNode("after", () => ({ messages: [new AIMessage("And after.")] }))
  .addEdge(START, "before")
  .addEdge("before", "sub")
  .addEdge("sub", "after")
  .addEdge("after", END)
  .compile();

const Own = Annotation.Root({ topic: Annotation<string>, text: Annotation<string> });
const own = new StateGraph(Own)
  .addNode("draft", async ({ topic }) => ({ text: (await sayer(`On ${topic}.`).invoke("go")).text }))
  .addEdge(START, "draft")
  .addEdge("draft", END);
const ownStateless = own.compile();
const ownSaved = own.compile({ checkpointer: new MemorySaver() });

export const calledSubgraph = new StateGraph(Steps)
  .addNode("call", async () => {
    const { text } = await ownStateless.invoke({ topic: "dogs" });
    return { messages: [new AIMessage(text)] };
  })
  .addEdge(START, "call")
  .addEdge("call", END)
  .compile();

export const calledWithOwnSaver = new StateGraph(Steps)
  .addNode("call", async (_: Steps, config: LangGraphRunnableConfig) => {
    const thread_id = `own of ${config.configurable?.thread_id}`;
    const { text } = await ownSaved.invoke({ topic: "cats" }, { configurable: { thread_id } });
    return { messages: [new AIMessage(text)] };
  })
  .addEdge(START, "call")
  .addEdge("call", END)
  .compile();

/** Two questions of one node, one after the other. */
export const twoInterrupts = new StateGraph(Steps)
  .addNode("ask", () => {
    const name = String(interrupt("Your name?"));
    const age = String(interrupt("Your age?"));
    return { steps: [name, age], messages: [new AIMessage(`${name} is ${age}.`)] };
  })
  .addEdge(START, "ask")
  .addEdge("ask", END)
  .compile();

/** Two questions at once, and one inside a subgraph. */
const nested = new StateGraph(Steps)
  .addNode("deep", () => ({ steps: [`deep ${interrupt("deep?")}`] }))
  .addEdge(START, "deep")
  .addEdge("deep", END)
  .compile();

export const nestedInterrupts = new StateGraph(Steps)
  .addNode("left", () => ({ steps: [`left ${interrupt("left?")}`] }))
  .addNode("right", () => ({ steps: [`right ${interrupt("right?")}`] }))
  .addNode("nested", nested)
  .addNode("end", ({ steps }) => ({ messages: [new AIMessage(`All: ${steps.join(", ")}`)] }))
  .addEdge(START, "left")
  .addEdge(START, "right")
  .addEdge("left", "nested")
  .addEdge("right", "nested")
  .addEdge("nested", "end")
  .addEdge("end", END)
  .compile();

export const breakpoint = new StateGraph(Steps)
  .addNode("first", () => ({ steps: ["first"], messages: [new AIMessage("Half way.")] }))
  .addNode("second", () => ({ steps: ["second"], messages: [new AIMessage("Arrived.")] }))
  .addEdge(START, "first")
  .addEdge("first", "second")
  .addEdge("second", END)
  .compile({ interruptBefore: ["second"] });

export const longLoop = new StateGraph(Steps)
  .addNode("again", () => ({ steps: ["."] }))
  .addNode("end", ({ steps }) => ({ messages: [new AIMessage(`${steps.length} steps.`)] }))
  .addEdge(START, "again")
  .addConditionalEdges("again", ({ steps }) => (steps.length < 40 ? "again" : "end"), ["again", "end"])
  .addEdge("end", END)
  .compile()
  .withConfig({ recursionLimit: 60 });

/** A loop past LangGraph's own limit, which both must refuse. */
export const recursionLimit = new StateGraph(Steps)
  .addNode("again", () => ({ steps: ["."] }))
  .addEdge(START, "again")
  .addEdge("again", "again")
  .compile();

export const nodeThrows = new StateGraph(Steps)
  .addNode("good", () => ({ steps: ["good"], messages: [new AIMessage("So far so good.")] }))
  .addNode("bad", () => {
    throw new TypeError("boom");
  })
  .addEdge(START, "good")
  .addEdge("good", "bad")
  .compile();

export const customWriter = new StateGraph(Steps)
  .addNode("report", async () => {
    const writer = getWriter();
    for (const percent of [0, 50, 100]) writer?.({ type: "progress", percent });
    return { messages: [new AIMessage("Reported.")] };
  })
  .addEdge(START, "report")
  .addEdge("report", END)
  .compile();

export const storeUser = new StateGraph(Steps)
  .addNode("remember", async (_: Steps, { store, configurable }: LangGraphRunnableConfig) => {
    const namespace = ["visits", String(configurable?.thread_id)];
    const visits = Number((await store?.get(namespace, "count"))?.value.count ?? 0);
    await store?.put(namespace, "count", { count: visits + 1 });
    return { messages: [new AIMessage(`Visit ${visits + 1}.`)] };
  })
  .addEdge(START, "remember")
  .addEdge("remember", END)
  .compile();
