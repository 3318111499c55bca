import { EventEmitter } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { AIMessage } from "@langchain/core/messages";
import {
  END,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { openThread } from "../../behaviour/thread-session.js";
import { describeLoadedGraph, graphRegistry } from "../../graphs/graph.js";

import { createInProcProvider } from "../provider.js";
import { failRunOfUnhandledError } from "../run.js";

/** A process that serves graphs, some of which leave errors unhandled. Says how its runs ended, and which errors were of no run. */
type Stray = (text: string) => void;

const STRAYS: Readonly<Record<string, Stray>> = {
  rejection: (text) => void Promise.reject(new Error(text)),
  late: (text) => void pause(20).then(() => Promise.reject(new Error(text))),
  timer: (text) =>
    void setTimeout(() => {
      throw new Error(text);
    }, 5),
  tick: (text) =>
    process.nextTick(() => {
      throw new Error(text);
    }),
  emitter: (text) => {
    const emitter = new EventEmitter();
    setTimeout(() => emitter.emit("error", new Error(text)), 5);
  },
  fine: () => {},
};

const foreign: string[] = [];
for (const event of ["unhandledRejection", "uncaughtException"]) {
  process.on(event, (error: Error) => {
    if (!failRunOfUnhandledError(error)) foreign.push(error.message);
  });
}

/** Two supersteps, and time for what strays to come back: a run that is not told of it succeeds. */
function graphThat(name: string, stray: Stray) {
  const wait = async (_: unknown, { signal }: LangGraphRunnableConfig) => {
    await pause(300, undefined, signal && { signal });
    return { messages: [new AIMessage("done")] };
  };
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("prepare", () => ({}))
    .addNode("stray", (state, config: LangGraphRunnableConfig) => {
      stray(name);
      return wait(state, config);
    })
    .addEdge(START, "prepare")
    .addEdge("prepare", "stray")
    .addEdge("stray", END)
    .compile({ name });
  return { descriptor: describeLoadedGraph({ graphName: name }, graph), create: () => graph };
}

const provider = createInProcProvider({
  graphs: graphRegistry(Object.entries(STRAYS).map(([name, stray]) => graphThat(name, stray))),
  checkpointer: new MemorySaver(),
});
const runs = Object.keys(STRAYS).map(async (name) => {
  const { final } = await openThread(provider, name).say("Go");
  const { status, error } = final;
  const cause = error?.cause instanceof Error ? error.cause.message : undefined;
  return [name, { status, code: error?.code, message: error?.message, cause }];
});
setTimeout(() => {
  throw new Error("of no run");
}, 5);
const ended = Object.fromEntries(await Promise.all(runs));
process.stdout.write(JSON.stringify({ ended, foreign }));
