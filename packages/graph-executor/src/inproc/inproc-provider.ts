import type { BaseCheckpointSaver, BaseStore } from "@langchain/langgraph-checkpoint";
import {
  type AttachmentPort,
  type Fence,
  GRAPH_PROVIDER_ID,
  type GraphCheckpoint,
  type GraphFinal,
  type GraphRunRequest,
  type GraphThread,
  type JsonObject,
  type LeasePort,
  parseGraphId,
  type StateUpdate,
  ThroughlineError,
} from "@throughline/ai-core";
import { readString } from "@throughline/coerce";
import { bindGraph } from "../graphs/bind-graph.js";
import type { GraphSource } from "../graphs/graph-source.js";
import type { RunnableGraph } from "../graphs/runnable-graph.js";
import { toGraphMessage } from "../messages/to-graph-message.js";
import { fencedSaver } from "../persistence/fenced-saver.js";
import { tenantStore } from "../persistence/tenant-store.js";
import type { GraphProvider } from "../provider/graph-provider.js";
import { committedMessages } from "./committed-messages.js";
import { copyThread } from "./copy-thread.js";
import { startGraphRun } from "./graph-run.js";
import { toRunError } from "./run-error.js";
import { newestCheckpoint, pastCheckpoint, readThread } from "./thread-reading.js";

export interface InProcProviderOptions {
  readonly graphs: GraphSource;
  readonly checkpointer: BaseCheckpointSaver;
  /** Shared by all tenants; every run sees its caller's part of it only. */
  readonly store?: BaseStore;
  /** R17: with it every checkpoint write presents the run's fence, and a run without one is refused. */
  readonly lease?: LeasePort;
  /** Where files behind the messages of checkpoints are read; a graph gets the bytes, a checkpoint never does. */
  readonly attachments?: AttachmentPort;
  /** More of a run's `configurable`; what a run always carries wins over it. */
  readonly configurable?: (request: GraphRunRequest) => JsonObject;
  /** LangGraph's `context`, for graphs compiled with a context schema. */
  readonly context?: (request: GraphRunRequest) => Readonly<Record<string, unknown>> | undefined;
}

/** Runs graphs in this process. */
export function createInProcProvider(options: InProcProviderOptions): GraphProvider {
  const { graphs, checkpointer, store, lease } = options;

  async function open(graphId: string, configurable: JsonObject): Promise<RunnableGraph> {
    const graphName = parseGraphId(graphId);
    const graph = graphName === undefined ? undefined : await graphs.open(graphName, { configurable });
    if (graph) return graph;
    const known = (await graphs.list()).map((descriptor) => descriptor.graphId);
    throw new ThroughlineError(
      "not_found",
      `There is no agent "${graphId}". There is: ${known.join(", ")}.`,
      {
        details: { graphId, known },
      },
    );
  }

  async function openThread(thread: GraphThread, saver = checkpointer): Promise<RunnableGraph> {
    const graph = await open(thread.graphId, { thread_id: thread.threadId });
    return bindGraph(graph, { checkpointer: saver });
  }

  function fenced(fence: Fence | undefined): BaseCheckpointSaver {
    if (!lease) return checkpointer;
    if (fence) return fencedSaver(checkpointer, lease, fence);
    throw new ThroughlineError("internal", "A checkpoint can't be written without the fence of its lease.");
  }

  return {
    providerId: GRAPH_PROVIDER_ID,
    executorType: "inproc",

    runGraph(request) {
      try {
        const setup = {
          open: (configurable: JsonObject) => open(request.graphId, configurable),
          saver: fenced(request.fence),
          store: store && tenantStore(store, request.caller),
          attachments: options.attachments,
          extraConfigurable: options.configurable?.(request) ?? {},
          context: options.context?.(request),
        };
        return startGraphRun(setup, request);
      } catch (error) {
        return { stream: nothing(), final: Promise.resolve(refused(toRunError(error, false))) };
      }
    },

    async getState(thread, checkpointId) {
      const graph = await openThread(thread);
      if (checkpointId === undefined) {
        return newestCheckpoint(await readThread(graph, checkpointer, thread.threadId));
      }
      const past = { configurable: { thread_id: thread.threadId, checkpoint_id: checkpointId } };
      const isThere = (await checkpointer.getTuple(past)) !== undefined;
      return isThere ? pastCheckpoint(await graph.getState(past)) : undefined;
    },

    async history(thread, { limit, before }) {
      const graph = await openThread(thread);
      const pages = graph.getStateHistory(
        { configurable: { thread_id: thread.threadId } },
        { limit, ...(before !== undefined && { before: { configurable: { checkpoint_id: before } } }) },
      );
      const checkpoints: GraphCheckpoint[] = [];
      for await (const snapshot of pages) {
        const checkpoint = pastCheckpoint(snapshot);
        if (checkpoint) checkpoints.push(checkpoint);
      }
      return checkpoints;
    },

    async updateState(thread, update, fence) {
      const graph = await openThread(thread, fenced(fence));
      const config = { configurable: { thread_id: thread.threadId } };
      try {
        const written = await graph.updateState(config, updateValues(update), update.asNode);
        return readString(written.configurable, "checkpoint_id") ?? "";
      } catch (error) {
        throw toRunError(error, false);
      }
    },

    committedMessages: (thread, messages) => committedMessages(checkpointer, thread.threadId, messages),

    async copyThread(from, checkpointId, to, fence) {
      await copyThread({
        saver: checkpointer,
        from: from.threadId,
        checkpointId,
        to: to.threadId,
        target: fenced(fence),
        runId: fence?.runId,
      });
    },

    deleteThread: ({ threadId }, fence) => (fence ? fenced(fence) : checkpointer).deleteThread(threadId),

    listAgents: () => graphs.list(),

    async getAgent(graphId) {
      const graphName = parseGraphId(graphId);
      return (await graphs.list()).find((descriptor) => descriptor.graphName === graphName);
    },
  };
}

function updateValues({ state = {}, messages = [] }: StateUpdate): JsonObject {
  const { messages: _, ...values } = state;
  return { ...values, ...(messages.length > 0 && { messages: messages.map(toGraphMessage) }) };
}

function refused(error: ThroughlineError): GraphFinal {
  return { ok: false, status: "error", error, interrupts: [] };
}

async function* nothing(): AsyncGenerator<never> {}
