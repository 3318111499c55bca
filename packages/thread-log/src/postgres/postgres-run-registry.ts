import type { Fence } from "@throughline/ai-core";
import type pg from "pg";
import type { RunRecord, RunRegistry } from "../port/run-registry.js";
import { subjectKey } from "../port/thread-ref.js";
import { nameOf } from "../registry/run-names.js";
import { finishRun, forgetRuns, stopRun } from "./end-run.js";
import { heartbeatStatement, heartbeatValues } from "./heartbeat-statement.js";
import { createHeldCheck } from "./held-check.js";
import { claimExpiredRuns, claimNextRun, claimQueuedRuns } from "./lease-runs.js";
import type { PostgresDatabase } from "./open-postgres.js";
import { pruneRuns } from "./prune-runs.js";
import { keyOf, QUEUE_ORDER, RUN_COLUMNS, type RunRow, SAME_THREAD, toRecord } from "./run-rows.js";
import { type AdmitInTransaction, startRun } from "./start-run.js";

export function createPostgresRunRegistry(
  database: PostgresDatabase,
  { admit }: { readonly admit?: AdmitInTransaction } = {},
): RunRegistry {
  const { pool, schema } = database;

  /** Changes a run for whoever holds it; `false` for everybody else. */
  async function change(fence: Fence, set: string, ...values: readonly string[]): Promise<boolean> {
    const { rowCount } = await pool.query(
      `update ${schema}.runs set ${set} where run_id = $1 and fence = $2 and status = 'running'`,
      [fence.runId, fence.token.toString(), ...values],
    );
    return rowCount === 1;
  }

  async function select(rest: string, values: readonly unknown[]): Promise<RunRecord[]> {
    const query: pg.QueryConfig = {
      text: `select ${RUN_COLUMNS} from ${schema}.runs ${rest}`,
      values: [...values],
    };
    const { rows } = await pool.query<RunRow>(query);
    return rows.map(toRecord);
  }

  return {
    start: (request) => startRun(database, request, admit),
    claimNext: (thread, lease) => claimNextRun(database, thread, lease),
    claimQueued: (lease, limit) => claimQueuedRuns(database, lease, limit),
    claimExpired: (lease, limit) => claimExpiredRuns(database, lease, limit),
    async heartbeat(fences, { leaseMs }) {
      const { rows } = await pool.query<{ run_id: string; stop_requested: boolean }>(
        heartbeatStatement(schema),
        heartbeatValues(fences, leaseMs),
      );
      const kept = new Set(rows.map(({ run_id }) => run_id));
      return {
        lost: fences.map(({ runId }) => runId).filter((runId) => !kept.has(runId)),
        stopping: rows.filter(({ stop_requested }) => stop_requested).map(({ run_id }) => run_id),
      };
    },
    async release(fence) {
      await change(fence, "lease_until = '-infinity'");
    },
    checkpointed: (fence) => change(fence, "start = null"),
    setUpstreamRun: (fence, upstreamRunId) => change(fence, "upstream_run_id = $3", upstreamRunId),
    finish: (fence, end) => finishRun(database, fence, end),
    stop: (thread, name) => stopRun(database, thread, name),
    async find(thread, name) {
      const column = "runId" in name ? "run_id" : "alias";
      const [run] = await select(`where ${SAME_THREAD} and ${column} = $4`, [...keyOf(thread), nameOf(name)]);
      return run;
    },
    async active(thread) {
      const [run] = await select(`where ${SAME_THREAD} and status = 'running'`, keyOf(thread));
      return run;
    },
    open: (thread) =>
      select(
        `where ${SAME_THREAD} and status in ('running', 'queued') order by status desc, ${QUEUE_ORDER}`,
        keyOf(thread),
      ),
    list: (thread, limit) =>
      select(`where ${SAME_THREAD} order by arrival desc limit $4`, [...keyOf(thread), limit]),
    async openInterrupts(thread) {
      const { rows } = await pool.query<{ interrupt_id: string; run_id: string }>(
        `select interrupt_id, run_id from ${schema}.interrupts where ${SAME_THREAD} and answered_by is null
         order by interrupt_id`,
        [...keyOf(thread)],
      );
      return rows.map((row) => ({ interruptId: row.interrupt_id, runId: row.run_id }));
    },
    async countOpen(account) {
      const { rows } = await pool.query<{ open: string }>({
        name: `${schema}_count_open`,
        text: `select count(*) as open from ${schema}.runs where account = $1 and status in ('running', 'queued')`,
        values: [account],
      });
      return Number(rows[0]?.open ?? 0);
    },
    pruneEnded: (olderThanMs, limit) => pruneRuns(database, olderThanMs, limit),
    async deleteThread(thread) {
      const { account, threadId } = thread;
      const [stopping] = await forgetRuns(database, { account, subject: subjectKey(thread), threadId });
      return stopping;
    },
    deleteAccount: (account, subject) => forgetRuns(database, { account, subject }),
    onStop: (listener) =>
      database.onWake((message) => {
        if (message.kind === "stop") listener(message.runId);
      }),
    assertHeld: createHeldCheck(database),
  };
}
