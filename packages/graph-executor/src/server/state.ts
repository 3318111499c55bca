import type { Client, ThreadState } from "@langchain/langgraph-sdk";
import type {
  Clock,
  GraphStatePort,
  JsonObject,
  StreamedMessage,
  ThroughlineError,
} from "@throughline/ai-core";
import { readNumber } from "@throughline/coerce";
import { refusedUpdate } from "../inproc/errors.js";
import { BARE_ID, pause, statusOf, toUpstreamError, whileUnreachable } from "./client.js";
import { busy } from "./create-run.js";
import { isOver } from "./follow-run.js";
import { activeRuns, ensureThread, graphNameOf, readCheckpoint, toGraphCheckpoint } from "./threads.js";
import { copyServerThread, updateServerThread } from "./updates.js";

export interface ServerStateOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly connectMs: number;
  readonly busyMs: number;
  readonly cancelMs: number;
}

const POLL_MS = 50;

/** Reads and writes threads on a LangGraph server. The fence is not presented: the server writes its checkpoints itself. */
export function createServerState(options: ServerStateOptions): GraphStatePort {
  const { client, clock, connectMs } = options;

  const ask = async <T>(request: () => Promise<T>): Promise<T> => {
    try {
      return await whileUnreachable(request, { clock, boundMs: connectMs });
    } catch (error) {
      throw toUpstreamError(error);
    }
  };
  const askIfThere = async <T>(request: () => Promise<T>): Promise<T | undefined> =>
    ask(() => request().catch(undefinedIfMissing));

  /** Deleting a thread under a live run would kill a worker of the server. */
  async function endRuns(threadId: string): Promise<void> {
    const runs = await activeRuns(client, threadId);
    await Promise.all(runs.map((run) => client.runs.cancel(threadId, run.run_id)));
    const deadline = clock.now() + options.cancelMs;
    for (const run of runs) {
      while (!isOver(await client.runs.get(threadId, run.run_id)) && clock.now() < deadline) {
        await pause(clock, POLL_MS);
      }
    }
  }

  return {
    async getState({ threadId }, checkpointId) {
      return askIfThere(async () => {
        const state = await client.threads.getState(threadId, checkpointId, { subgraphs: true });
        return checkpointId === undefined ? readCheckpoint(client, state) : toGraphCheckpoint(state);
      });
    },

    async history({ threadId }, { limit, before }) {
      const page = (mark: JsonObject) => {
        const config = before !== undefined && {
          before: { configurable: { checkpoint_id: before, ...mark } },
        };
        return client.threads.getHistory(threadId, { limit, ...config });
      };
      const states = await askIfThere(() =>
        page({ [BARE_ID]: true }).catch((error: unknown) => {
          if (statusOf(error) !== 422) throw error;
          return page({});
        }),
      );
      return (states ?? []).map(toGraphCheckpoint).filter((checkpoint) => checkpoint !== undefined);
    },

    async updateState({ graphId, threadId }, update) {
      await ask(() => ensureThread(client, threadId, graphNameOf(graphId)));
      try {
        return await updateServerThread(client, threadId, update);
      } catch (error) {
        throw statusOf(error) === 409 ? await busy(client, threadId, options.busyMs) : refused(error);
      }
    },

    async committedMessages({ threadId }, messages) {
      const state = await askIfThere(() => client.threads.getState(threadId, undefined, { subgraphs: true }));
      const held = state ? messages.filter((message) => holds(state, message)) : [];
      return new Set(held.map(({ messageId }) => messageId));
    },

    async copyThread(from, checkpointId, to) {
      await ask(() => copyServerThread(client, from, checkpointId, to));
    },

    async deleteThread({ threadId }) {
      await askIfThere(async () => {
        await endRuns(threadId);
        await client.threads.delete(threadId);
      });
    },
  };
}

/**
 * R27: a message is committed once the checkpoint above its task has passed the task's step, or holds the task's result.
 * A subgraph whose task is gone from its parent has ended, and its messages with it.
 */
function holds(root: ThreadState, { ns, step }: StreamedMessage): boolean {
  const above = ns.slice(0, -1);
  const taskId = idOf(ns.at(-1));
  let state = root;
  for (const segment of above) {
    const task = state.tasks.find(({ id }) => id === idOf(segment));
    if (!task || task.result != null) return true;
    if (!task.state) return false;
    state = task.state;
  }
  const reached = readNumber(state.metadata, "step");
  if (reached !== undefined && reached >= step) return true;
  return state.tasks.some(({ id, result }) => id === taskId && result != null);
}

/** The refusal of an update. A server that responds fails on an update only when the graph does: its error looks like a crash. */
function refused(error: unknown): ThroughlineError {
  const status = statusOf(error);
  return status === 500 || status === 400 ? refusedUpdate(undefined, error) : toUpstreamError(error);
}

function idOf(segment: string | undefined): string | undefined {
  return segment?.slice(segment.lastIndexOf(":") + 1);
}

function undefinedIfMissing(error: unknown): undefined {
  if (statusOf(error) !== 404) throw error;
}
