import type { AgentCatalogPort, GraphStatePort, LogEntry, LogPosition } from "@throughline/ai-core";
import { emptyFold, type FoldRun, type ThreadFold } from "@throughline/reading";
import { type FoldSource, rebuildFold, type StateKeys, visibleState } from "@throughline/stream-adapter";
import type {
  Rebuilt,
  RunRecord,
  RunRegistry,
  ThreadDirectory,
  ThreadLog,
  ThreadRef,
} from "@throughline/thread-log";
import { clientRunIdOf, parseRunRow } from "../threads/run-spec.js";
import { schemaKeys, type ThreadAddress } from "../threads/thread-address.js";
import { readRun } from "./read-projection.js";

/** A thread as one instance knows it now. */
export interface KnownFold {
  readonly fold: ThreadFold;
  /** What the fold includes; `undefined` when the thread has no log. */
  readonly position: LogPosition | undefined;
  /** `false` while a run is open whose beginning is lost: the fold may lack some of it until `completeEntry`. */
  readonly isWhole: boolean;
}

type Rebuildable = Pick<ThreadAddress, "ref" | "graphId">;

/** R20: where the log no longer tells what a thread is, its checkpoint does. */
export interface FoldRebuilder {
  rebuild(thread: Rebuildable): Promise<KnownFold>;
  /**
   * The entry with which a run tells its last checkpoint, with all that the checkpoint holds: a subscriber who missed the
   * run's beginning then ends with what every other one has. `undefined` for any other entry, and if the checkpoint is gone.
   */
  completeEntry(thread: Rebuildable, entry: LogEntry): Promise<LogEntry | undefined>;
}

export interface FoldRebuilderOptions {
  readonly log: Pick<ThreadLog, "head" | "read">;
  readonly state: Pick<GraphStatePort, "getState">;
  readonly registry: Pick<RunRegistry, "active">;
  readonly agents: Pick<AgentCatalogPort, "getAgent">;
}

/** How often an idle thread is read again because a run began or ended meanwhile. */
const MAX_TRIES = 3;

export function createFoldRebuilder({ log, state, registry, agents }: FoldRebuilderOptions): FoldRebuilder {
  async function stateKeysOf(graphId: string): Promise<StateKeys | undefined> {
    const agent = await agents.getAgent(graphId);
    return agent && schemaKeys(agent.outputSchema);
  }

  async function rebuild({ ref, graphId }: Rebuildable): Promise<KnownFold> {
    const stateKeys = await stateKeysOf(graphId);
    for (let tries = 1; ; tries += 1) {
      const before = await log.head(ref);
      // Read before the log is: what the log tells later is then not in it, and can be added to it.
      const checkpoint = await state.getState({ graphId, threadId: ref.threadId });
      const active = await registry.active(ref);
      const head = await log.head(ref);
      if (head === undefined) return { fold: emptyFold, position: undefined, isWhole: true };
      const last = await entryAt(log, ref, head);
      if (active && isUnderWay(active, last)) {
        const entries = await readRun(log, ref, active.runId, head);
        const fold = rebuildFold({ checkpoint, stateKeys, ...aboutRun(active), entries });
        if (fold.run?.open) return { fold, position: head, isWhole: false };
      } else {
        const fold = rebuildFold({ checkpoint, stateKeys, run: endedRun(last) });
        const isSettled = before?.epoch === head.epoch && before.seq === head.seq;
        if (isSettled) return { fold, position: head, isWhole: active === undefined };
      }
      if (tries === MAX_TRIES) {
        const fold = rebuildFold({ checkpoint, stateKeys, run: null });
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
    const { changed_messages: _, ...told } = envelope.payload;
    const payload = {
      ...told,
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
  const kept = page.kind === "gap" ? page.kept.at(-1) : undefined;
  return kept?.seq === seq ? kept : undefined;
}

/** Whether the log has told the run's beginning and not its end. What was trimmed to its last entry ended no run. */
function isUnderWay({ runId }: RunRecord, last: LogEntry | undefined): boolean {
  if (last === undefined) return true;
  return last.envelope.run_id === runId && last.envelope.type !== "run_end";
}

/** What the run's row tells of a beginning that the log has lost. */
function aboutRun({
  runId,
  alias,
  attempt,
  graphId,
  origin,
  createdAt,
  request,
  start,
}: RunRecord): Pick<FoldSource, "run" | "call" | "answered" | "said"> {
  const row = parseRunRow(request);
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

function endedRun(last: LogEntry | undefined): FoldRun | null {
  if (last?.envelope.type !== "run_end") return null;
  const { run_id, attempt, payload } = last.envelope;
  const { status, error } = payload;
  return { run_id, client_run_id: null, attempt, open: false, status, ...(error && { error }) };
}

/** What the log asks for before it trims a thread that it can't fold; it knows threads by their key alone. */
export async function rebuildForLog(
  {
    rebuilder,
    directory,
    registry,
  }: {
    readonly rebuilder: Pick<FoldRebuilder, "rebuild">;
    readonly directory: Pick<ThreadDirectory, "find">;
    readonly registry: Pick<RunRegistry, "list">;
  },
  ref: ThreadRef,
): Promise<Rebuilt<ThreadFold> | undefined> {
  const graphId = (await directory.find(ref))?.graphId ?? (await registry.list(ref, 1))[0]?.graphId;
  if (graphId === undefined) return undefined;
  const { fold, position, isWhole } = await rebuilder.rebuild({ ref, graphId });
  return isWhole && position ? { state: fold, position } : undefined;
}
