import type { BaseCheckpointSaver, BaseStore } from "@langchain/langgraph-checkpoint";
import {
  type AttachmentPort,
  type Clock,
  type Fence,
  GRAPH_PROVIDER_ID,
  type GraphCheckpoint,
  type GraphFinal,
  type GraphRunRequest,
  type GraphThread,
  type JsonObject,
  type LeasePort,
  parseGraphId,
  systemClock,
  ThroughlineError,
} from "@throughline/ai-core";
import { fencedSaver, RetryingSaver } from "../checkpoints/run-saver.js";
import { bindGraph, type GraphSource, type RunnableGraph } from "../graphs/graph.js";
import { type GraphProvider, unknownAgent } from "../provider.js";
import { emptyBatchesByEvent } from "../store/graph-store.js";
import { fencedStore } from "../store/run-store.js";
import { tenantStore } from "../store/tenant-store.js";
import { committedMessages } from "./committed-messages.js";
import { toRunError } from "./errors.js";
import { startGraphRun } from "./run.js";
import type { RunCallbacks } from "./stream.js";
import { newestCheckpoint, pastCheckpoint, readThread, storedCheckpoint } from "./thread-state.js";
import { copyThread, updateThread } from "./thread-writes.js";

export interface InProcProviderOptions {
  readonly graphs: GraphSource;
  readonly checkpointer: BaseCheckpointSaver;
  /** Shared by all tenants; every run sees its caller's part of it only. */
  readonly store?: BaseStore;
  /**
   * R17: with it every write of a run to the checkpointer and the store presents the run's fence, and a run without one is
   * refused. With a `heldQuery`, those of the two that are PostgreSQL's must be in the registry's own database.
   */
  readonly lease?: LeasePort;
  /** Reads and stores the files of messages in checkpoints; a graph gets the bytes, a checkpoint never does. */
  readonly attachments?: AttachmentPort;
  /** More of a run's `configurable`; what a run always carries wins over it. */
  readonly configurable?: (request: GraphRunRequest) => JsonObject;
  /** LangGraph's `context`, for graphs compiled with a context schema. */
  readonly context?: (request: GraphRunRequest) => Readonly<Record<string, unknown>> | undefined;
  /** Callbacks of every run, as LangChain takes them. */
  readonly callbacks?: readonly RunCallbacks[];
  readonly clock?: Clock;
  /**
   * Whether this process's wall clock is that of the database. While it is not, runs write no checkpoints and are left, and updates
   * outside of runs throw a `StoreOutage`. Default: always.
   */
  readonly isClockRight?: () => boolean;
  /**
   * How long a read or write outside a run waits for a database in an outage before it throws a `StoreOutage`. Runs
   * wait however long. Default 10 s.
   */
  readonly patienceMs?: number;
}

/** Runs graphs in this process. */
export function createInProcProvider(options: InProcProviderOptions): GraphProvider {
  const { graphs, store, lease, clock = systemClock, patienceMs = 10_000 } = options;
  if (store) emptyBatchesByEvent();
  const patient = (saver: BaseCheckpointSaver) => new RetryingSaver(saver, { clock, patienceMs });
  const checkpointer = patient(options.checkpointer);

  async function open(graphId: string, configurable: JsonObject): Promise<RunnableGraph | undefined> {
    const graphName = parseGraphId(graphId);
    return graphName === undefined ? undefined : graphs.open(graphName, { configurable });
  }

  async function unknown(graphId: string): Promise<ThroughlineError> {
    return unknownAgent(
      graphId,
      (await graphs.list()).map(({ graphName }) => graphName),
    );
  }

  async function openThread({ graphId, threadId }: GraphThread): Promise<RunnableGraph | undefined> {
    const graph = await open(graphId, { thread_id: threadId });
    return graph && bindGraph(graph, { checkpointer });
  }

  function requireFence(fence: Fence | undefined): Fence {
    if (fence) return fence;
    throw new ThroughlineError("internal", "A checkpoint can't be written without the fence of its lease.");
  }

  function fenced(fence: Fence | undefined): BaseCheckpointSaver {
    return lease ? fencedSaver(options.checkpointer, lease, requireFence(fence)) : options.checkpointer;
  }

  function storeOf({ caller, fence }: GraphRunRequest): BaseStore | undefined {
    return store && tenantStore(lease ? fencedStore(store, lease, requireFence(fence)) : store, caller);
  }

  return {
    providerId: GRAPH_PROVIDER_ID,
    executorType: "inproc",

    runGraph(request) {
      try {
        const setup = {
          open: (configurable: JsonObject) => open(request.graphId, configurable),
          unknownAgent: () => unknown(request.graphId),
          saver: fenced(request.fence),
          store: storeOf(request),
          attachments: options.attachments,
          extraConfigurable: options.configurable?.(request) ?? {},
          context: options.context?.(request),
          callbacks: options.callbacks,
          clock,
          isClockRight: options.isClockRight,
        };
        return startGraphRun(setup, request);
      } catch (error) {
        return { stream: nothing(), final: Promise.resolve(refused(toRunError(error, false))) };
      }
    },

    async getState(thread, checkpointId) {
      const { graphId, threadId } = thread;
      const graph = await openThread(thread);
      if (checkpointId === undefined) {
        const newest = newestCheckpoint(await readThread(graph, checkpointer, threadId));
        if (!graph && !newest) throw await unknown(graphId);
        return newest;
      }
      const past = { configurable: { thread_id: threadId, checkpoint_id: checkpointId } };
      const tuple = await checkpointer.getTuple(past);
      if (!graph && !tuple) throw await unknown(graphId);
      if (!tuple) return undefined;
      return graph ? pastCheckpoint(await graph.getState(past)) : storedCheckpoint(tuple);
    },

    async history(thread, { limit, before }) {
      const { graphId, threadId } = thread;
      const graph = await openThread(thread);
      const config = { configurable: { thread_id: threadId, checkpoint_ns: "" } };
      const page = {
        limit,
        ...(before !== undefined && { before: { configurable: { checkpoint_id: before } } }),
      };
      const checkpoints: (GraphCheckpoint | undefined)[] = [];
      if (graph) {
        for await (const state of graph.getStateHistory(config, page))
          checkpoints.push(pastCheckpoint(state));
      } else {
        for await (const tuple of checkpointer.list(config, page)) checkpoints.push(storedCheckpoint(tuple));
        if (checkpoints.length === 0) throw await unknown(graphId);
      }
      return checkpoints.filter((checkpoint) => checkpoint !== undefined);
    },

    async updateState(thread, update, fence) {
      const graph = await open(thread.graphId, { thread_id: thread.threadId });
      if (!graph) throw await unknown(thread.graphId);
      return updateThread({
        graph,
        saver: fenced(fence),
        threadId: thread.threadId,
        runId: fence?.runId,
        update,
        clock,
        patienceMs,
        isClockRight: options.isClockRight,
      });
    },

    committedMessages: (thread, messages) => committedMessages(checkpointer, thread.threadId, messages),

    async copyThread(from, checkpointId, to, fence) {
      await copyThread({
        saver: checkpointer,
        from: from.threadId,
        checkpointId,
        to: to.threadId,
        target: patient(fenced(fence)),
        runId: fence?.runId,
      });
    },

    deleteThread: ({ threadId }, fence) =>
      (fence ? patient(fenced(fence)) : checkpointer).deleteThread(threadId),

    listAgents: () => graphs.list(),

    async getAgent(graphId) {
      const graphName = parseGraphId(graphId);
      return (await graphs.list()).find((descriptor) => descriptor.graphName === graphName);
    },
  };
}

function refused(error: ThroughlineError): GraphFinal {
  return { ok: false, status: "error", error, interrupts: [] };
}

async function* nothing(): AsyncGenerator<never> {}
