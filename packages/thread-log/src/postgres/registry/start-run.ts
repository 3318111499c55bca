import { ThroughlineError } from "@throughline/ai-core";
import type { BadRow, ReadRequest, StartLook, StartResult, StartRun } from "../../registry/run-registry.js";
import {
  answerIds,
  BUSY_RETRY_MS,
  canonicalJson,
  checkAlias,
  decideStart,
  retriedStart,
  type StartDecision,
} from "../../registry/start-decision.js";
import { searchText, storableTitle } from "../../thread-directory.js";
import { beingDeleted } from "../../thread-ref.js";
import type { PostgresDatabase } from "../database.js";
import {
  keyOf,
  type LeasedRow,
  QUEUE_ORDER,
  RUN_COLUMNS,
  type RunRow,
  SAME_THREAD,
  toLeased,
  toRecord,
  toRecords,
} from "./run-rows.js";
import { startRunCall } from "./start-statement.js";

interface SeenThread {
  readonly revision: string | null;
  readonly log_epoch: string | null;
  readonly log_head: string | null;
  readonly closed: boolean;
  readonly stopped: boolean;
  readonly open: readonly { run_id: string; status: string; preempts: boolean }[];
  readonly interrupts: readonly {
    interrupt_id: string;
    answered_by: string | null;
    answer: string | null;
  }[];
  readonly open_runs: number;
  readonly model: string | null;
}

/** Outer joined: the run of the same name, if there is one. */
type LookRow = SeenThread & (RunRow | { readonly run_id: null });

export async function readThreadRuns(
  { pool, schema }: PostgresDatabase,
  { thread, runId, alias, answers, account = thread.account }: ReadRequest,
  onBadRow: (row: BadRow) => void,
): Promise<StartLook> {
  const names = alias === undefined ? [runId] : [runId, alias];
  const { rows } = await pool.query<LookRow>({
    name: `${schema}_look`,
    text: lookStatement(schema),
    values: [...keyOf(thread), runId, alias ?? null, names, answers, account],
  });
  const row = onlyRow(rows);
  const queued = row.open.filter(({ status }) => status === "queued");
  return {
    runs: {
      same: row.run_id ?? undefined,
      stopped: row.stopped,
      running: row.open.find(({ status }) => status === "running")?.run_id,
      queued: queued.map(({ run_id }) => run_id),
      preempting: queued.filter(({ preempts }) => preempts).length,
      interrupts: row.interrupts.map((interrupt) => ({
        interruptId: interrupt.interrupt_id,
        answeredBy: interrupt.answered_by ?? undefined,
        answer: interrupt.answer ?? undefined,
      })),
    },
    same: row.run_id === null ? undefined : toRecords([row], onBadRow)[0],
    revision: Number(row.revision ?? 0),
    head: row.log_epoch === null ? undefined : { epoch: row.log_epoch, seq: Number(row.log_head) },
    openRuns: row.open_runs,
    isClosed: row.closed,
    model: row.model ?? undefined,
  };
}

/** How often a constraint may contradict a look before that is an error. */
const MAX_COLLISIONS = 3;

/**
 * Looks, decides (`decideStart`), writes what was decided if the look still holds, else looks again. A look goes out
 * of date only when the thread's runs change, so of all starts at one moment one is written.
 */
export async function startRun(
  database: PostgresDatabase,
  request: StartRun,
  given: StartLook | undefined,
  onBadRow: (row: BadRow) => void,
): Promise<StartResult> {
  checkAlias(request.alias);
  const lookRequest = { ...request, answers: answerIds(request.start) };
  let look = given;
  for (let collisions = 0; ; ) {
    look ??= await readThreadRuns(database, lookRequest, onBadRow);
    if (look.isClosed) throw beingDeleted();
    const decision = decideStart(look.runs, request);
    switch (decision.kind) {
      case "attach":
        return attach(database, request, look, decision.runId);
      case "conflict":
      case "interrupt_pending":
        return decision;
      case "busy":
        return { ...decision, retryAfterMs: BUSY_RETRY_MS };
    }
    try {
      const result = await write(database, request, look.revision, decision);
      if (result !== "stale") return result;
    } catch (error) {
      // An instance of an older version does not move the revision: then only the constraint knows.
      collisions += 1;
      if (!isUniqueViolation(error) || collisions === MAX_COLLISIONS) throw error;
    }
    look = undefined;
  }
}

async function attach(
  { pool, schema }: PostgresDatabase,
  request: StartRun,
  look: StartLook,
  runId: string,
): Promise<StartResult> {
  const { runs, same } = look;
  if (same?.runId === runId) return retriedStart(request, look) ?? { kind: "attached", run: same };
  if (runs.same === runId) {
    throw new ThroughlineError("internal", "What is stored of this run can't be read.");
  }
  const { rows } = await pool.query<RunRow>(
    `select ${RUN_COLUMNS.join(", ")} from ${schema}.runs where run_id = $1`,
    [runId],
  );
  return rows[0]
    ? { kind: "attached", run: toRecord(rows[0]) }
    : { kind: "conflict", interruptIds: answerIds(request.start) };
}

type WritingDecision = Extract<StartDecision, { kind: "run" | "queue" | "cancel" }>;

const STATUS = { run: "running", queue: "queued", cancel: "cancelled" } as const;

type StartedRow = LeasedRow & { readonly verdict: "written" | "stale" | "closed" };

async function write(
  database: PostgresDatabase,
  request: StartRun,
  revision: number,
  decision: WritingDecision,
): Promise<StartResult | "stale"> {
  const { pool, schema } = database;
  const { rows } = await pool.query<StartedRow>({
    name: `${schema}_start_run_1`,
    text: startRunCall(schema),
    values: [...keyOf(request.thread), revision, ...valuesOf(database, request, decision)],
  });
  const row = onlyRow(rows);
  switch (row.verdict) {
    case "closed":
      throw beingDeleted();
    case "stale":
      return "stale";
  }
  switch (decision.kind) {
    case "cancel":
      return { kind: "cancelled", run: toRecord(row) };
    case "queue":
      if (decision.preempted !== undefined) database.notifySelf({ kind: "stop", runId: decision.preempted });
      return { ...decision, kind: "queued", run: toRecord(row) };
    case "run":
      return { kind: "started", ...toLeased(row) };
  }
}

/** Parameters of the function, in its order, after thread and revision. */
function valuesOf(
  { channel, payload }: PostgresDatabase,
  request: StartRun,
  decision: WritingDecision,
): readonly unknown[] {
  const { start, strategy } = request;
  const isCancelled = decision.kind === "cancel";
  const preempts = strategy === "preempt";
  const preempted = decision.kind === "queue" ? decision.preempted : undefined;
  const answers = start.kind === "resume" && !isCancelled ? Object.entries(start.answers) : [];
  const listing = isCancelled ? undefined : request.listing;
  const title = storableTitle(listing?.derivedTitle);
  return [
    STATUS[decision.kind],
    request.runId,
    request.alias ?? null,
    request.graphId,
    request.origin.kind,
    request.origin.id ?? null,
    start.kind,
    isCancelled ? null : JSON.stringify(start),
    JSON.stringify(request.request),
    request.upstreamRunId ?? null,
    preempts,
    request.stateKey,
    request.owner,
    request.leaseMs,
    answers.map(([interruptId]) => interruptId),
    answers.map(([, answer]) => canonicalJson(answer)),
    decision.kind === "run" && preempts && start.kind === "input",
    preempted ?? null,
    channel,
    preempted === undefined ? null : payload({ kind: "stop", runId: preempted }),
    listing?.threadName ?? null,
    title ?? null,
    listing ? searchText(title, listing.threadName) : null,
  ];
}

function onlyRow<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error("this statement always gives back a row");
  return row;
}

function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "23505";
}

/**
 * Everything a start needs to know, as of one snapshot. Locks nothing: what is decided by it is written only if the thread's
 * revision is still the one it saw. Parameters: the thread, run id, alias, both of them, answered interrupts, account.
 */
function lookStatement(schema: string): string {
  const columns = RUN_COLUMNS.join(", ");
  return `
select
  t.revision, t.epoch as log_epoch, t.head as log_head,
  exists (select 1 from ${schema}.closures where account = $1 and (subject is null or subject = $2)
    and (thread_id is null or thread_id = $3)) as closed,
  exists (select 1 from ${schema}.stops
    where ${SAME_THREAD} and run_name = any($6::text[]) and expires_at > clock_timestamp()) as stopped,
  (select coalesce(json_agg(json_build_object('run_id', run_id, 'status', status, 'preempts', preempts)
      order by ${QUEUE_ORDER}), '[]')
    from ${schema}.runs where ${SAME_THREAD} and status in ('running', 'queued')) as open,
  (select coalesce(json_agg(json_build_object('interrupt_id', interrupt_id, 'answered_by', answered_by, 'answer', answer)
      order by interrupt_id), '[]')
    from ${schema}.interrupts where ${SAME_THREAD} and (answered_by is null or interrupt_id = any($7::text[]))
  ) as interrupts,
  (select count(*)::int from ${schema}.runs where account = $8 and status in ('running', 'queued')) as open_runs,
  (select model from ${schema}.thread_listings where ${SAME_THREAD}) as model,
  same.*
from (values (1)) as always (one)
left join ${schema}.threads t on t.account = $1 and t.subject = $2 and t.thread_id = $3
left join lateral (
  -- Each by its own index: a thread may have many runs.
  select ${columns} from ${schema}.runs where run_id = $4 and ${SAME_THREAD}
  union all
  select ${columns} from ${schema}.runs where alias = $5 and ${SAME_THREAD}
  limit 1
) same on true`;
}
