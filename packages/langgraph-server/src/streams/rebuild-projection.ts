import type { AgentCatalogPort, GraphStatePort, LogEntry, LogPosition } from "@throughline/ai-core";
import { emptyThreadProjection, type ProjectedRun, type ThreadProjection } from "@throughline/reading";
import {
  type RebuildSource,
  rebuildProjection,
  type StateKeys,
  visibleState,
} from "@throughline/stream-adapter";
import type {
  Rebuilt,
  RunRecord,
  RunRegistry,
  ThreadDirectory,
  ThreadLog,
  ThreadRef,
} from "@throughline/thread-log";
import { clientRunIdOf, decodeRunSpec } from "../threads/run-spec.js";
import { schemaKeys, type ThreadAddress } from "../threads/thread-address.js";
import { readRun } from "./read-projection.js";

/** The projection of a thread that one instance has now. */
export interface KnownProjection {
  readonly fold: ThreadProjection;
  /** The position the fold includes; `undefined` when the thread has no log. */
  readonly position: LogPosition | undefined;
  /** `false` while a run is open whose beginning is lost: the fold may lack some of it until `completeEntry`. */
  readonly isWhole: boolean;
}

type Rebuildable = Pick<ThreadAddress, "ref" | "graphId">;

/** R20: rebuilds a projection from the checkpoint where the log is no longer sufficient. */
export interface ProjectionRebuilder {
  rebuild(thread: Rebuildable): Promise<KnownProjection>;
  /**
   * The entry with which a run records its last checkpoint, completed from that checkpoint: a subscriber that missed the
   * run's beginning then ends with the same projection as every other one. `undefined` for any other entry, and if the
   * checkpoint is gone.
   */
  completeEntry(thread: Rebuildable, entry: LogEntry): Promise<LogEntry | undefined>;
}

export interface ProjectionRebuilderOptions {
  readonly log: Pick<ThreadLog, "head" | "read">;
  readonly state: Pick<GraphStatePort, "getState">;
  readonly registry: Pick<RunRegistry, "active">;
  readonly agents: Pick<AgentCatalogPort, "getAgent">;
}

/** How often an idle thread is read again because a run began or ended meanwhile. */
const MAX_TRIES = 3;

export function createProjectionRebuilder({
  log,
  state,
  registry,
  agents,
}: ProjectionRebuilderOptions): ProjectionRebuilder {
  async function stateKeysOf(graphId: string): Promise<StateKeys | undefined> {
    const agent = await agents.getAgent(graphId);
    return agent && schemaKeys(agent.outputSchema);
  }

  async function rebuild({ ref, graphId }: Rebuildable): Promise<KnownProjection> {
    const stateKeys = await stateKeysOf(graphId);
    for (let tries = 1; ; tries += 1) {
      const before = await log.head(ref);
      // Read before the log: later entries are then not in it, and can be applied to it.
      const checkpoint = await state.getState({ graphId, threadId: ref.threadId });
      const active = await registry.active(ref);
      const head = await log.head(ref);
      if (head === undefined) return { fold: emptyThreadProjection, position: undefined, isWhole: true };
      const last = await entryAt(log, ref, head);
      if (active && isUnderWay(active, last)) {
        const entries = await readRun(log, ref, active.runId, head);
        const fold = rebuildProjection({ checkpoint, stateKeys, ...aboutRun(active), entries });
        if (fold.run?.open) return { fold, position: head, isWhole: false };
      } else {
        const fold = rebuildProjection({ checkpoint, stateKeys, run: endedRun(last) });
        const isUnchanged = before?.epoch === head.epoch && before.seq === head.seq;
        if (isUnchanged) return { fold, position: head, isWhole: active === undefined };
      }
      if (tries === MAX_TRIES) {
        const fold = rebuildProjection({ checkpoint, stateKeys, run: null });
        return { fold, position: head, isWhole: false };
      }
    }
  }

  async function completeEntry(
    { ref, graphId }: Rebuildable,
    entry: LogEntry,
  ): Promise<LogEntry | undefined> {
    const { envelope } = entry;
    if (envelope.type !== "state_snapshot" || envelope.payload.checkpoint_id === undefined) return undefined;
    const thread = { graphId, threadId: ref.threadId };
    const checkpoint = await state.getState(thread, envelope.payload.checkpoint_id);
    if (checkpoint?.checkpointId !== envelope.payload.checkpoint_id) return undefined;
    const { changed_messages: _, ...unchanged } = envelope.payload;
    const payload = {
      ...unchanged,
      state: visibleState(checkpoint.state, await stateKeysOf(graphId)),
      ...(checkpoint.messages && { messages: [...checkpoint.messages] }),
    };
    return { ...entry, envelope: { ...envelope, payload } };
  }

  return { rebuild, completeEntry };
}

/** The log's last entry, which outlives trimming if it ended a run. */
async function entryAt(
  log: Pick<ThreadLog, "read">,
  ref: ThreadAddress["ref"],
  { epoch, seq }: LogPosition,
): Promise<LogEntry | undefined> {
  if (seq === 0) return undefined;
  const page = await log.read(ref, { epoch, seq: seq - 1 }, 1);
  if (page.kind === "entries") return page.entries[0];
  const last = page.kind === "gap" ? page.kept.at(-1) : undefined;
  return last?.seq === seq ? last : undefined;
}

/** Whether the log had the run's beginning and has no end of it. A log trimmed to its last entry ended no run. */
function isUnderWay({ runId }: RunRecord, last: LogEntry | undefined): boolean {
  if (last === undefined) return true;
  return last.envelope.run_id === runId && last.envelope.type !== "run_end";
}

/** The run's beginning by its row, for a log that has lost it. */
function aboutRun({
  runId,
  alias,
  attempt,
  graphId,
  origin,
  createdAt,
  request,
  start,
}: RunRecord): Pick<RebuildSource, "run" | "call" | "answered" | "said"> {
  const row = decodeRunSpec(request);
  const work = row.ok ? row.value.work : "graph";
  return {
    run: {
      run_id: runId,
      client_run_id: work === "graph" && alias !== undefined ? clientRunIdOf(alias) : null,
      attempt,
      open: true,
      status: null,
      ...(work === "reconcile" && { coarse: true }),
    },
    call: {
      name: graphId,
      started_at: createdAt / 1_000,
      started_by: { kind: origin.kind, ...(origin.id !== undefined && { id: origin.id }) },
    },
    answered: start?.kind === "resume" ? Object.keys(start.answers) : [],
    said: start?.kind === "input" ? start.messages : [],
  };
}

function endedRun(last: LogEntry | undefined): ProjectedRun | null {
  if (last?.envelope.type !== "run_end") return null;
  const { run_id, attempt, payload } = last.envelope;
  const { status, error } = payload;
  return { run_id, client_run_id: null, attempt, open: false, status, ...(error && { error }) };
}

/** Rebuilds a projection for the log, which calls this before it trims a thread it can't fold. It has only the thread's key. */
export async function rebuildForLog(
  {
    rebuilder,
    directory,
    registry,
  }: {
    readonly rebuilder: Pick<ProjectionRebuilder, "rebuild">;
    readonly directory: Pick<ThreadDirectory, "find">;
    readonly registry: Pick<RunRegistry, "list">;
  },
  ref: ThreadRef,
): Promise<Rebuilt<ThreadProjection> | undefined> {
  const graphId = (await directory.find(ref))?.graphId ?? (await registry.list(ref, 1))[0]?.graphId;
  if (graphId === undefined) return undefined;
  const { fold, position, isWhole } = await rebuilder.rebuild({ ref, graphId });
  return isWhole && position ? { state: fold, position } : undefined;
}
