import {
  type AgentCatalogPort,
  type GraphCheckpoint,
  type JsonObject,
  ThroughlineError,
} from "@throughline/ai-core";
import type {
  RunRecord,
  ThreadChange,
  ThreadListing,
  ThreadListPage,
  ThreadQuery,
  ThreadScope,
} from "@throughline/thread-log";
import { schemaKeys } from "../thread/schema-keys.js";
import type { ThreadAddress } from "../thread/thread-address.js";
import { type Fork, type ForkDeps, forkThread } from "./fork-thread.js";
import { type Move, type MoveDeps, moveThread } from "./move-thread.js";

/** A checkpoint as people may see it: of the state only what the graph's output schema names. */
export interface ShownCheckpoint extends Omit<GraphCheckpoint, "state"> {
  readonly values: JsonObject;
}

/** What people do with their threads besides running them. Throws `not_found` for a thread that is not there. */
export interface ThreadService {
  list(scope: ThreadScope, query: ThreadQuery): Promise<ThreadListPage>;
  get(thread: ThreadAddress): Promise<ThreadListing>;
  change(thread: ThreadAddress, change: ThreadChange): Promise<ThreadListing>;
  /** The newest checkpoint, or the one named. */
  state(thread: ThreadAddress, checkpointId?: string): Promise<ShownCheckpoint>;
  /** Newest first; `before` is a checkpoint's id. */
  history(
    thread: ThreadAddress,
    page: { readonly limit: number; readonly before?: string },
  ): Promise<readonly ShownCheckpoint[]>;
  /** Newest first. */
  runs(thread: ThreadAddress, limit: number): Promise<readonly RunRecord[]>;
  /** Throws `conflict` when there is a thread of that name. */
  fork(fork: Fork): Promise<ThreadListing>;
  /** Gives it another address. Throws `conflict` when there is a thread, `busy` while a run is active. */
  move(move: Move): Promise<ThreadListing>;
  /** Everything of it, everywhere. */
  remove(thread: ThreadAddress): Promise<void>;
}

export interface ThreadServiceDeps extends ForkDeps {
  readonly agents: AgentCatalogPort;
  /** What deletes a thread from every store; without it threads can't be deleted. */
  readonly removeThread?: MoveDeps["removeThread"] | undefined;
}

export function createThreadService(deps: ThreadServiceDeps): ThreadService {
  const { directory, registry, state, agents } = deps;

  async function get({ ref }: ThreadAddress): Promise<ThreadListing> {
    const found = await directory.find(ref);
    if (!found) throw missing();
    return found;
  }

  function removing(): MoveDeps["removeThread"] {
    if (deps.removeThread) return deps.removeThread;
    throw new ThroughlineError("method_not_allowed", "This server does not delete threads.");
  }

  async function shownAs(
    { graphId }: ThreadAddress,
    checkpoints: readonly GraphCheckpoint[],
  ): Promise<readonly ShownCheckpoint[]> {
    const agent = await agents.getAgent(graphId);
    const keys = agent && schemaKeys(agent.outputSchema);
    return checkpoints.map(({ state: all, ...checkpoint }) => ({
      ...checkpoint,
      values: keys ? Object.fromEntries(Object.entries(all).filter(([key]) => keys.includes(key))) : all,
    }));
  }

  return {
    async list(scope, query) {
      return directory.list(scope, query);
    },
    get,
    async change({ ref }, change) {
      const changed = await directory.change(ref, change);
      if (!changed) throw missing();
      return changed;
    },
    async state(thread, checkpointId) {
      const { graphId, ref } = thread;
      const checkpoint = await state.getState({ graphId, threadId: ref.threadId }, checkpointId);
      const [shown] = await shownAs(thread, checkpoint ? [checkpoint] : []);
      if (shown) return shown;
      throw new ThroughlineError("not_found", "There is no such thread, or it has no such checkpoint.");
    },
    async history(thread, page) {
      await get(thread);
      const { graphId, ref } = thread;
      return shownAs(thread, await state.history({ graphId, threadId: ref.threadId }, page));
    },
    async runs(thread, limit) {
      await get(thread);
      return registry.list(thread.ref, limit);
    },
    async fork(fork) {
      await forkThread(deps, fork);
      return get(fork.to);
    },
    async move(move) {
      await moveThread({ ...deps, removeThread: removing() }, move);
      return get(move.to);
    },
    async remove(thread) {
      const removeThread = removing();
      await get(thread);
      await removeThread(thread);
    },
  };
}

function missing(): ThroughlineError {
  return new ThroughlineError("not_found", "There is no such thread.");
}
