import { type Fence, ThroughlineError } from "@throughline/ai-core";
import type { RunRecord, RunRegistry, RunRegistryOptions } from "../../registry/run-registry.js";
import { nameOf } from "../../registry/start-decision.js";
import { subjectKey } from "../../thread-ref.js";
import type { PostgresDatabase } from "../database.js";
import { deleteRuns } from "../delete.js";
import { claimExpiredRuns, claimNextRun, claimQueuedRuns, releaseRun } from "./claims.js";
import { finishRuns } from "./finish.js";
import { heartbeatStatement, heartbeatValues } from "./heartbeat.js";
import {
  heldQuery,
  keyOf,
  QUEUE_ORDER,
  RUN_COLUMNS,
  type RunRow,
  SAME_THREAD,
  toRecords,
} from "./run-rows.js";
import { readThreadRuns, startRun } from "./start-run.js";
import { pruneRuns, stopRun } from "./stop.js";

export function createPostgresRunRegistry(
  database: PostgresDatabase,
  { onBadRow = () => {} }: RunRegistryOptions = {},
): RunRegistry {
  const { pool, schema } = database;

  async function select(rest: string, values: readonly unknown[]): Promise<RunRecord[]> {
    const { rows } = await pool.query<RunRow>(
      `select ${RUN_COLUMNS.join(", ")} from ${schema}.runs ${rest}`,
      [...values],
    );
    return toRecords(rows, onBadRow);
  }

  return {
    look: (request) => readThreadRuns(database, request, onBadRow),
    start: (request, given) => startRun(database, request, given, onBadRow),
    claimNext: (thread, lease) => claimNextRun(database, thread, lease, onBadRow),
    claimQueued: (lease, limit) => claimQueuedRuns(database, lease, limit, onBadRow),
    claimExpired: (lease, limit) => claimExpiredRuns(database, lease, limit, onBadRow),
    async heartbeat(fences, { leaseMs }) {
      const { rows } = await pool.query<{ run_id: string; stop_requested: boolean }>(
        heartbeatStatement(schema),
        heartbeatValues(fences, leaseMs),
      );
      const renewed = new Set(rows.map(({ run_id }) => run_id));
      return {
        lost: fences.map(({ runId }) => runId).filter((runId) => !renewed.has(runId)),
        stopping: rows.filter(({ stop_requested }) => stop_requested).map(({ run_id }) => run_id),
      };
    },
    release: (fence, { isFresh } = { isFresh: false }) => releaseRun(database, fence, isFresh),
    async setUpstreamRun(fence, upstreamRunId) {
      const { rowCount } = await pool.query(
        `update ${schema}.runs set upstream_run_id = $3 where run_id = $1 and fence = $2 and status = 'running'`,
        [...heldValues(fence), upstreamRunId],
      );
      return rowCount === 1;
    },
    async finish({ runId, token }, end) {
      const [result] = await finishRuns(database, [{ ...end, runId, token }]);
      return result ?? { ok: false, reason: "ended" };
    },
    stop: (thread, name) => stopRun(database, thread, name, onBadRow),
    async find(thread, name) {
      const column = "runId" in name ? "run_id" : "alias";
      const [run] = await select(`where ${SAME_THREAD} and ${column} = $4`, [...keyOf(thread), nameOf(name)]);
      return run;
    },
    async findInAccount(account, runId) {
      const [run] = await select("where account = $1 and run_id = $2", [account, runId]);
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
      const [stopping] = await deleteRuns(database, { account, subject: subjectKey(thread), threadId });
      return stopping;
    },
    deleteAccount: (account, subject) => deleteRuns(database, { account, subject }),
    onStop: (listener) =>
      database.onWake((message) => {
        if (message.kind === "stop") listener(message.runId);
      }),
    onReleased: (listener) =>
      database.onWake((message) => {
        if (message.kind === "released") listener();
      }),
    async assertHeld(fence) {
      const { rowCount } = await pool.query({
        name: `${schema}_assert_held`,
        text: heldQuery(schema, 1),
        values: heldValues(fence),
      });
      if (rowCount !== 1) throw new ThroughlineError("conflict", "Another instance drives this run by now.");
    },
    heldQuery: (first) => heldQuery(schema, first),
  };
}

function heldValues({ runId, token }: Fence): [runId: string, token: string] {
  return [runId, token.toString()];
}
