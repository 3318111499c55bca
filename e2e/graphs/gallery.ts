import type { Json, JsonObject } from "@throughline/ai-core";

/** One step of a conversation with a graph, told to the plain graph and to the service alike. */
export type Turn =
  | { readonly say: string; readonly state?: JsonObject }
  | { readonly state: JsonObject }
  /** Resumes every open interrupt with what the function gives for its value. */
  | { readonly answer: (asked: unknown) => Json }
  /** Continues past a static breakpoint. */
  | { readonly goOn: true };

/** A check of the suite, by which a deliberate difference or a known fault is named. */
export type Check = "checkpoint" | "supersteps" | "viewers" | "protocols";

export interface GalleryEntry {
  /** The graph's name, and its export. */
  readonly name: string;
  readonly module: "agents" | "deep-agents" | "handoffs" | "control" | "states" | "contents";
  readonly about: string;
  readonly turns: readonly Turn[];
  /** Checks in which the graph behaves differently on purpose, each with the reason. */
  readonly differences?: Partial<Readonly<Record<Check, string>>>;
  /** Checks that fail because of a fault; the suite asserts that they still do. */
  readonly knownFaults?: Partial<Readonly<Record<Check, string>>>;
  /** The same on a LangGraph server, in place of the above; a string says why the graph can't run there. */
  readonly server?: string | ServerEntry;
}

export interface ServerEntry extends Pick<GalleryEntry, "differences" | "knownFaults"> {
  /** Output keys that are declared to the service, because the server's schema does not name them. */
  readonly outputs?: readonly string[];
}

const SAME_ID =
  "On the server LangGraph's messages mode gives all id-less messages of a node one id, and merges them.";

const hello: readonly Turn[] = [{ say: "Hello" }];
const twice: readonly Turn[] = [{ say: "Hello" }, { say: "And again" }];
const approve = () => ({ decisions: [{ type: "approve" }] });
const echo = (asked: unknown) => `re: ${String(asked)}`;

export const GALLERY: readonly GalleryEntry[] = [
  { name: "agent", module: "agents", about: "createAgent with one tool", turns: twice },
  { name: "parallelTools", module: "agents", about: "two calls of one message", turns: hello },
  {
    name: "hitl",
    module: "agents",
    about: "humanInTheLoopMiddleware, approved",
    turns: [{ say: "Hello" }, { answer: approve }],
  },
  {
    name: "summarization",
    module: "agents",
    about: "summarizationMiddleware over three turns",
    turns: [{ say: "One" }, { say: "Two" }, { say: "Three" }],
  },
  {
    name: "todoList",
    module: "agents",
    about: "todoListMiddleware",
    turns: hello,
  },
  {
    name: "pii",
    module: "agents",
    about: "piiMiddleware on input and output",
    turns: [{ say: "I am ann@example.com" }],
  },
  { name: "modelFallback", module: "agents", about: "modelFallbackMiddleware", turns: hello },
  { name: "toolRetry", module: "agents", about: "toolRetryMiddleware that gives up", turns: hello },
  {
    name: "contextEditing",
    module: "agents",
    about: "contextEditingMiddleware",
    turns: twice,
    server: {
      differences: {
        supersteps: "The middleware changes messages in place, and the server streams them after the change.",
      },
    },
  },
  {
    name: "structuredTool",
    module: "agents",
    about: "structured output by tool strategy",
    turns: hello,
  },
  {
    name: "structuredProvider",
    module: "agents",
    about: "structured output by provider strategy",
    turns: hello,
  },
  { name: "toolArtifacts", module: "agents", about: "tool progress and artifacts", turns: hello },
  { name: "toolErrors", module: "agents", about: "a tool error as a message", turns: hello },
  { name: "beforeModel", module: "agents", about: "a middleware that adds a message", turns: hello },
  {
    name: "deepAgent",
    module: "deep-agents",
    about: "createDeepAgent: writes and reads a file",
    turns: hello,
  },
  {
    name: "deepSubagents",
    module: "deep-agents",
    about: "createDeepAgent with two subagents at once",
    turns: hello,
  },
  {
    name: "commandUpdate",
    module: "handoffs",
    about: "Command with update and goto",
    turns: hello,
  },
  {
    name: "supervisor",
    module: "handoffs",
    about: "a supervisor with Command hand-offs",
    turns: hello,
  },
  { name: "swarm", module: "handoffs", about: "a swarm: hand-off tool with Command.PARENT", turns: twice },
  {
    name: "commandParent",
    module: "handoffs",
    about: "Command.PARENT out of a subgraph",
    turns: hello,
  },
  { name: "send1", module: "handoffs", about: "Send fan-out of 1", turns: hello },
  { name: "send20", module: "handoffs", about: "Send fan-out of 20", turns: hello },
  {
    name: "send200",
    module: "handoffs",
    about: "Send fan-out of 200",
    turns: hello,
  },
  { name: "sendModels", module: "handoffs", about: "Send fan-out of model calls", turns: hello },
  { name: "deferred", module: "handoffs", about: "a deferred node", turns: hello },
  {
    name: "nodeCache",
    module: "control",
    about: "a node answered from its cache",
    turns: twice,
  },
  {
    name: "retryPolicy",
    module: "control",
    about: "a node that fails after its model spoke, retried",
    turns: hello,
  },
  {
    name: "functional",
    module: "control",
    about: "entrypoint, task, getPreviousState",
    turns: twice,
  },
  {
    name: "functionalAsks",
    module: "control",
    about: "entrypoint with interrupt",
    turns: [{ say: "Hello" }, { answer: () => "good" }],
  },
  { name: "sharedSubgraph", module: "control", about: "a subgraph with shared keys", turns: twice },
  { name: "calledSubgraph", module: "control", about: "a subgraph called as a function", turns: hello },
  {
    name: "calledWithOwnSaver",
    module: "control",
    about: "a subgraph called with its own checkpointer",
    turns: twice,
  },
  {
    name: "twoInterrupts",
    module: "control",
    about: "two interrupts in one node",
    turns: [{ say: "Hello" }, { answer: () => "Ann" }, { answer: () => "7" }],
  },
  {
    name: "nestedInterrupts",
    module: "control",
    about: "two interrupts at once, then one in a subgraph",
    turns: [{ say: "Hello" }, { answer: echo }, { answer: echo }],
  },
  {
    name: "breakpoint",
    module: "control",
    about: "a static breakpoint",
    turns: [{ say: "Hello" }, { goOn: true }],
  },
  {
    name: "longLoop",
    module: "control",
    about: "forty supersteps with an own recursion limit",
    turns: hello,
  },
  { name: "recursionLimit", module: "control", about: "an endless loop that LangGraph ends", turns: hello },
  {
    name: "nodeThrows",
    module: "control",
    about: "a node that throws after another committed",
    turns: hello,
  },
  { name: "customWriter", module: "control", about: "custom stream writer", turns: hello },
  { name: "storeUser", module: "control", about: "the long-term store", turns: twice },
  {
    name: "noMessages",
    module: "states",
    about: "a state without messages",
    turns: [{ state: { topic: "cats" } }],
  },
  {
    name: "otherName",
    module: "states",
    about: "messages under another name",
    turns: [{ state: { topic: "cats" } }],
  },
  {
    name: "idlessMessages",
    module: "states",
    about: "several messages without ids",
    turns: hello,
    server: { differences: { checkpoint: SAME_ID, supersteps: SAME_ID } },
  },
  {
    name: "roleDictionaries",
    module: "states",
    about: "messages as dictionaries and tuples",
    turns: hello,
  },
  {
    name: "humanByNode",
    module: "states",
    about: "a human message made by a node",
    turns: hello,
  },
  {
    name: "systemMessages",
    module: "states",
    about: "a system message made by a node",
    turns: hello,
  },
  { name: "removeMessage", module: "states", about: "RemoveMessage", turns: hello },
  { name: "removeAll", module: "states", about: "REMOVE_ALL_MESSAGES", turns: twice },
  {
    name: "rewrittenId",
    module: "states",
    about: "a message rewritten under its id",
    turns: hello,
  },
  { name: "customReducers", module: "states", about: "custom reducers", turns: twice },
  {
    name: "untracked",
    module: "states",
    about: "UntrackedValue",
    turns: hello,
  },
  { name: "zodState", module: "states", about: "zod state", turns: hello },
  { name: "stateSchema", module: "states", about: "StateSchema", turns: twice },
  {
    name: "privateState",
    module: "states",
    about: "separate input and output schemas",
    turns: hello,
    server: { outputs: ["messages", "verdict"] },
  },
  {
    name: "richValues",
    module: "states",
    about: "Map, Set, Date, class instance",
    turns: hello,
    server: { differences: { checkpoint: "The server sends Map and Set as empty objects." } },
  },
  {
    name: "bytesValue",
    module: "states",
    about: "bytes in the state",
    turns: hello,
    differences: { checkpoint: "A viewer gets the length of bytes in the state, not the bytes." },
    server: {},
  },
  {
    name: "bigintValue",
    module: "states",
    about: "BigInt in the state",
    turns: hello,
    differences: {
      checkpoint:
        "LangGraph's own saver can't read the whole checkpoint back. Here the BigInt alone is not stored: the run shows it, and warns.",
    },
    server: "The server can't send a BigInt: reading its state fails with status 500.",
  },
  { name: "plainChat", module: "contents", about: "one model call", turns: twice },
  { name: "responsesApi", module: "contents", about: "a Responses API message", turns: hello },
  { name: "reasoning", module: "contents", about: "reasoning blocks", turns: hello },
  { name: "thinking", module: "contents", about: "thinking blocks", turns: hello },
  { name: "refusal", module: "contents", about: "a refusal", turns: hello },
  { name: "serverTools", module: "contents", about: "a provider's own tool", turns: hello },
  { name: "citations", module: "contents", about: "citations", turns: hello },
  { name: "mediaMessage", module: "contents", about: "an image in a message", turns: hello },
  { name: "router", module: "contents", about: "a model call that is not committed", turns: hello },
  { name: "nostream", module: "contents", about: "a model call tagged nostream", turns: hello },
  {
    name: "handmadeCall",
    module: "contents",
    about: "tool call and result made by a node",
    turns: hello,
    server: { differences: { checkpoint: SAME_ID, supersteps: SAME_ID } },
  },
];
