import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { InMemoryCache, InMemoryStore, MemorySaver } from "@langchain/langgraph-checkpoint";
import { type Fence, type LeasePort, ThroughlineError, type UpstreamChunk } from "@throughline/ai-core";
import { afterEach, expect, it } from "vitest";
import { z } from "zod";
import { BEHAVIOUR_PROJECT } from "../behaviour/executor-behaviour.js";
import { notebook } from "../behaviour/graphs/notebook.js";
import { eventText, startedNodes } from "../behaviour/streamed.js";
import { openThread } from "../behaviour/thread-session.js";
import { describeLoadedGraph, graphRegistry } from "../graphs/graph.js";

import { loadProjectGraphs } from "../graphs/project-graphs.js";
import { runRequest } from "../server/testing/run-request.js";
import { createInProcProvider } from "./provider.js";

const graphs = await loadProjectGraphs(fileURLToPath(BEHAVIOUR_PROJECT));

const unhandled: unknown[] = [];
process.on("unhandledRejection", (error) => unhandled.push(error));
afterEach(() => expect(unhandled).toEqual([]));

/** A lease that is lost after so many questions. */
function leaseFor(writes: number): LeasePort & { readonly asked: Fence[] } {
  const asked: Fence[] = [];
  return {
    asked,
    async assertHeld(fence) {
      asked.push(fence);
      if (asked.length > writes)
        throw new ThroughlineError("conflict", "Another instance holds this thread.");
    },
  };
}

const fenceOf = (threadId: string): Fence => ({ threadId, runId: "run-1", token: 7n });

it("presents its fence with every write, and ends well while it is held", async () => {
  const lease = leaseFor(Number.POSITIVE_INFINITY);
  const provider = createInProcProvider({ graphs, checkpointer: new MemorySaver(), lease });
  const session = openThread(provider, "parallel");
  const fence = fenceOf(session.thread.threadId);
  expect((await session.say("Go", { fence })).final.status).toBe("success");
  expect(lease.asked.length).toBeGreaterThan(5);
  expect(new Set(lease.asked)).toEqual(new Set([fence]));
});

it("stops its graph at the first write that a lost lease refuses, and writes nothing after it", async () => {
  for (let writes = 0; writes < 12; writes++) {
    const lease = leaseFor(writes);
    const provider = createInProcProvider({ graphs, checkpointer: new MemorySaver(), lease });
    const session = openThread(provider, "parallel");
    const { final } = await session.say("Go", { fence: fenceOf(session.thread.threadId) });
    expect(final).toMatchObject({ ok: false, status: "error", error: { code: "conflict" } });
    expect(final.messages?.some((message) => message.content === "all have spoken") ?? false).toBe(false);
  }
});

it("refuses a run without a fence where there is a lease to hold", async () => {
  const provider = createInProcProvider({ graphs, checkpointer: new MemorySaver(), lease: leaseFor(0) });
  const session = openThread(provider, "notebook");
  expect((await session.say("Go")).final).toMatchObject({ status: "error", error: { code: "internal" } });
  await expect(provider.updateState(session.thread, { state: { topic: "x" } })).rejects.toThrow("fence");
});

it("ends as failed, and not the process, when a checkpoint can't be written", async () => {
  class FullDisk extends MemorySaver {
    override async putWrites(): Promise<void> {
      throw new Error("disk full at /var/lib/secret");
    }
  }
  const provider = createInProcProvider({ graphs, checkpointer: new FullDisk() });
  const { final } = await openThread(provider, "parallel").say("Go");
  expect(final).toMatchObject({ status: "error", error: { code: "internal" } });
  expect(final.error?.message).not.toContain("secret");
});

it("does not call a failed run well when its checkpoint can't be read", async () => {
  class Unreadable extends MemorySaver {
    reads = 0;
    override async getTuple(...read: Parameters<MemorySaver["getTuple"]>) {
      this.reads += 1;
      if (this.reads > 1) throw new Error("connection reset");
      return super.getTuple(...read);
    }
  }
  const provider = createInProcProvider({ graphs, checkpointer: new Unreadable() });
  const { final } = await openThread(provider, "notebook").say("Go");
  expect(final).toMatchObject({ status: "error", error: { code: "internal" } });
});

it("says that the input is at fault when the graph refuses it before any node runs", async () => {
  const provider = createInProcProvider({ graphs, checkpointer: new MemorySaver() });
  const { final, chunks } = await openThread(provider, "chat").run({
    kind: "input",
    messages: [{ id: "m1", role: "tool", content: "An answer to no call" }],
  });
  expect(startedNodes(chunks)).toEqual([]);
  expect(final.error?.code).toBe("invalid_input");
});

it("carries ids and billing facts in configurable, and never a key", async () => {
  const seen: unknown[] = [];
  const provider = createInProcProvider({
    graphs: {
      list: async () => [],
      async open(_, { configurable }) {
        seen.push(configurable);
        return notebook;
      },
    },
    checkpointer: new MemorySaver(),
    configurable: () => ({ tone: "dry", runId: "forged" }),
  });
  const session = openThread(provider, "notebook");
  const { runId } = await session.say("Go", { attempt: 2 });
  expect(seen[0]).toEqual({
    thread_id: session.thread.threadId,
    model: "default",
    virtualKeyId: "key-1",
    billingAccountId: "acme",
    runId,
    attempt: 2,
    ingressRequestId: expect.any(String),
    traceId: "trace-1",
    executorType: "inproc",
    tone: "dry",
    "ag-ui": { tools: [], context: [] },
    command: null,
  });
});

it("gives a graph its caller's part of the store, and the context it asks for", async () => {
  const store = new InMemoryStore();
  const keeper = new StateGraph(MessagesAnnotation, z.object({ locale: z.string() }))
    .addNode("keep", async (_, runtime) => {
      await runtime.store?.put(["memories"], "locale", { value: runtime.context?.locale });
      return {};
    })
    .addEdge(START, "keep")
    .compile();
  const provider = createInProcProvider({
    graphs: graphRegistry([
      { descriptor: describeLoadedGraph({ graphName: "keeper" }, keeper), create: () => keeper },
    ]),
    checkpointer: new MemorySaver(),
    store,
    context: () => ({ locale: "de" }),
  });
  expect((await openThread(provider, "keeper").say("Go")).final.status).toBe("success");
  expect(await store.search([], { limit: 10 })).toMatchObject([
    { namespace: ["acme", "shared~", "memories"], value: { value: "de" } },
  ]);
});

it("tells all events that came before a failure, however slowly they are read", async () => {
  const provider = createInProcProvider({ graphs, checkpointer: new MemorySaver() });
  const { stream, final } = provider.runGraph(
    runRequest({ graphId: "langgraph:faulty", text: "model", dialect: "events" }),
  );
  const chunks: UpstreamChunk[] = [];
  for await (const chunk of stream) {
    chunks.push(chunk);
    for (let turns = 0; turns < 20; turns++) await setImmediate();
  }
  expect(startedNodes(chunks)).toEqual(["work"]);
  expect(eventText(chunks)).not.toBe("");
  expect(await final).toMatchObject({
    status: "error",
    error: { message: "The graph failed while it ran." },
  });
});

it("leaves no rejection behind a run whose nodes were answered from a cache", async () => {
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("note", () => ({ messages: [] }), { cachePolicy: { keyFunc: () => "same" } })
    .addEdge(START, "note")
    .compile({ cache: new InMemoryCache() });
  const registered = { descriptor: describeLoadedGraph({ graphName: "cached" }, graph), create: () => graph };
  const provider = createInProcProvider({
    graphs: graphRegistry([registered]),
    checkpointer: new MemorySaver(),
  });
  for (const threadId of ["first", "second"]) {
    const { stream, final } = provider.runGraph(runRequest({ graphId: "langgraph:cached", threadId }));
    for await (const _ of stream);
    expect((await final).status).toBe("success");
  }
  await setImmediate();
});
