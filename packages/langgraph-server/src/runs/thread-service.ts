import {
  type AgentCatalogPort,
  type GraphCheckpoint,
  type JsonObject,
  type LogEntry,
  ThroughlineError,
} from "@throughline/ai-core";
import { validateEdit } from "@throughline/questions";
import type {
  RunRecord,
  ThreadChange,
  ThreadListing,
  ThreadListPage,
  ThreadLog,
  ThreadQuery,
  ThreadScope,
} from "@throughline/thread-log";
import { readRun } from "../streams/read-projection.js";
import { type MessageIndex, searchWords, snippetOf } from "../threads/message-index.js";
import { decodeRunSpec } from "../threads/run-spec.js";
import { allowedKeys, type ThreadAddress } from "../threads/thread-address.js";
import { isEdit, type StateEdit } from "./edit-state.js";
import { type Fork, type ForkDeps, forkThread, type Move, type MoveDeps, moveThread } from "./edit-thread.js";
import { checkpointBefore, planRetry, type Retry } from "./retry-run.js";
import type { DrivingRunService } from "./run-service.js";

/** A checkpoint as people may see it: of the state only what the graph's output schema names. */
export interface VisibleCheckpoint extends Omit<GraphCheckpoint, "state"> {
  readonly values: JsonObject;
}

/** Operations of people on their threads other than runs. Throws `not_found` for a thread that is not there. */
export interface ThreadService {
  list(scope: ThreadScope, query: ThreadQuery): Promise<ThreadListPage>;
  /** Threads with a message that has all these words, newest message first; at most `limit`. */
  search(scope: ThreadScope, query: MessageQuery): Promise<readonly FoundThread[]>;
  get(thread: ThreadAddress): Promise<ThreadListing>;
  change(thread: ThreadAddress, change: ThreadChange): Promise<ThreadListing>;
  /** The newest checkpoint, or the one named. */
  state(thread: ThreadAddress, checkpointId?: string): Promise<VisibleCheckpoint>;
  /**
   * Edits the visible state of an idle thread, and returns it with the run that wrote it. Throws `invalid_input` that names the key
   * that can't be set.
   */
  editState(thread: ThreadAddress, edit: StateEdit): Promise<VisibleCheckpoint>;
  /** Newest first; `before` is a checkpoint's id. */
  history(
    thread: ThreadAddress,
    page: { readonly limit: number; readonly before?: string },
  ): Promise<readonly VisibleCheckpoint[]>;
  /** The checkpoint from which an assistant's message was made. */
  checkpointBefore(thread: ThreadAddress, messageId: string): Promise<string>;
  /** The request that retries the thread's last run. Throws `conflict` unless it failed. */
  planRetry(thread: ThreadAddress): Promise<Retry>;
  /** Newest first. */
  runs(thread: ThreadAddress, limit: number): Promise<readonly RunRecord[]>;
  /** Throws `conflict` when there is a thread of that name. */
  fork(fork: Fork): Promise<ThreadListing>;
  /** Gives it another address. Throws `conflict` when there is a thread, `busy` while a run is active. */
  move(move: Move): Promise<ThreadListing>;
  /** Everything of it, everywhere. */
  remove(thread: ThreadAddress): Promise<void>;
}

export interface MessageQuery extends Pick<ThreadQuery, "graphId" | "isArchived" | "limit"> {
  readonly search: string;
}

export interface FoundThread {
  readonly listing: ThreadListing;
  readonly match: {
    readonly messageId: string;
    readonly role: "user" | "assistant";
    readonly snippet: string;
  };
}

export interface ThreadServiceDeps extends ForkDeps {
  readonly runs: Pick<DrivingRunService, "reconcile" | "editState">;
  readonly agents: AgentCatalogPort;
  readonly log: Pick<ThreadLog, "read" | "head" | "terminal">;
  readonly messages: Pick<MessageIndex, "search">;
  readonly feedback: MoveDeps["feedback"];
  /** Deletes a thread from every store; without it threads can't be deleted. */
  readonly removeThread?: MoveDeps["removeThread"] | undefined;
}

export function createThreadService(deps: ThreadServiceDeps): ThreadService {
  const { directory, registry, state, agents, log, messages } = deps;

  async function get({ ref }: ThreadAddress): Promise<ThreadListing> {
    const found = await directory.find(ref);
    if (!found) throw missing();
    return found;
  }

  async function readWholeRun(ref: ThreadAddress["ref"], runId: string): Promise<readonly LogEntry[]> {
    const head = await log.head(ref);
    return head ? readRun(log, ref, runId, head) : [];
  }

  function removing(): MoveDeps["removeThread"] {
    if (deps.removeThread) return deps.removeThread;
    throw new ThroughlineError("method_not_allowed", "This server does not delete threads.");
  }

  async function visibleOf(
    { graphId }: ThreadAddress,
    checkpoints: readonly GraphCheckpoint[],
  ): Promise<readonly VisibleCheckpoint[]> {
    const agent = await agents.getAgent(graphId);
    return checkpoints.map(({ state: all, ...checkpoint }) => {
      const keys = agent ? allowedKeys(agent.outputSchema, Object.keys(all)) : Object.keys(all);
      return {
        ...checkpoint,
        values: Object.fromEntries(Object.entries(all).filter(([key]) => keys.includes(key))),
      };
    });
  }

  async function readState(thread: ThreadAddress, checkpointId?: string): Promise<VisibleCheckpoint> {
    const { graphId, ref } = thread;
    const checkpoint = await state.getState({ graphId, threadId: ref.threadId }, checkpointId);
    const [shown] = await visibleOf(thread, checkpoint ? [checkpoint] : []);
    if (shown) return shown;
    throw new ThroughlineError("not_found", "There is no such thread, or it has no such checkpoint.");
  }

  return {
    async list(scope, query) {
      return directory.list(scope, query);
    },
    async search(scope, { search, isArchived, ...query }) {
      const words = searchWords(search);
      if (words.length === 0) return [];
      const found = await messages.search(scope, { ...query, words });
      const listings = await Promise.all(found.map(({ thread }) => directory.find(thread)));
      return found.flatMap(({ messageId, role, said: text }, index) => {
        const listing = listings[index];
        if (!listing || (isArchived !== undefined && listing.isArchived !== isArchived)) return [];
        return [{ listing, match: { messageId, role, snippet: snippetOf(text, words) } }];
      });
    },
    get,
    async change({ ref }, change) {
      const changed = await directory.change(ref, change);
      if (!changed) throw missing();
      return changed;
    },
    state: readState,
    async editState(thread, edit) {
      await get(thread);
      const agent = await agents.getAgent(thread.graphId);
      const { values } = await readState(thread);
      if (agent) requireValidEdit(agent.outputSchema, values, edit.values);
      const runId = await deps.runs.editState(thread, edit);
      const checkpoint = await readState(thread);
      // A LangGraph server's checkpoint does not name it.
      return runId === undefined ? checkpoint : { ...checkpoint, runId };
    },
    async history(thread, page) {
      await get(thread);
      const { graphId, ref } = thread;
      return visibleOf(thread, await state.history({ graphId, threadId: ref.threadId }, page));
    },
    async checkpointBefore(thread, messageId) {
      await get(thread);
      return checkpointBefore(state, { graphId: thread.graphId, threadId: thread.ref.threadId }, messageId);
    },
    async planRetry(thread) {
      await get(thread);
      const { ref, graphId } = thread;
      const runs = await registry.list(ref, RECENT_RUNS);
      const run = runs.find(isOfGraph);
      if (!run) throw missing();
      for (const edit of runs.slice(0, runs.indexOf(run)).filter(isEdit)) {
        // A refused edit is not in the log.
        if (await log.terminal(ref, edit.runId)) throw editedSince();
      }
      const [entries, checkpoint] = await Promise.all([
        readWholeRun(ref, run.runId),
        state.getState({ graphId, threadId: ref.threadId }),
      ]);
      const started = entries.find(({ envelope }) => envelope.type === "run_start")?.envelope;
      const input = started?.type === "run_start" ? started.payload.input : undefined;
      return planRetry({ run, input, checkpoint });
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

/** How many of the newest runs are searched for the last one of a graph: some may only have recorded a checkpoint. */
const RECENT_RUNS = 20;

function isOfGraph({ request }: RunRecord): boolean {
  const row = decodeRunSpec(request);
  return row.ok && row.value.work === "graph";
}

/** The state at which the run failed is no longer the thread's state. */
function editedSince(): ThroughlineError {
  return new ThroughlineError(
    "conflict",
    "The state was edited since the run failed. Let the graph go on (ask-again), or send a message.",
  );
}

function missing(): ThroughlineError {
  return new ThroughlineError("not_found", "There is no such thread.");
}

/**
 * Throws `invalid_input` unless a state of this schema can hold these values, naming the first that does not fit. Messages are no
 * part of it: runs write them. `before`: its current values.
 */
function requireValidEdit(outputSchema: JsonObject, before: JsonObject, values: JsonObject): void {
  const allowed = allowedKeys(outputSchema, Object.keys(values));
  const stranger = Object.keys(values).find((name) => name === "messages" || !allowed.includes(name));
  if (stranger !== undefined) {
    const known = Object.keys(Object(outputSchema.properties)).filter((name) => name !== "messages");
    const named = known.length > 0 ? ` Known: ${known.join(", ")}.` : "";
    throw refused(stranger, `can't be edited.${named}`, { known });
  }
  const mismatch = validateEdit(outputSchema, before, values);
  if (mismatch) throw refused(mismatch.path, mismatch.problem);
}

function refused(path: string, why: string, details: JsonObject = {}): ThroughlineError {
  const field = path === "" ? "values" : `values.${path}`;
  return new ThroughlineError("invalid_input", `${field}: ${why}`, { details: { field, ...details } });
}
