import { z } from "zod";
import {
  EVIDENCES,
  type LedgerDatabase,
  type LedgerStore,
  type RunBill,
  type UnbilledRun,
  type UsageGroup,
} from "./ledger.js";
import { amount, readUnit, seenValues, UNIT_COLUMNS, unitValues, wholeNumber } from "./unit-row.js";

const billSchema = z.object({
  calls: z.number(),
  input_tokens: wholeNumber,
  output_tokens: wholeNumber,
  amount,
  unpriced: z.number(),
});

const receiptSchema = z.object({
  source_reference: z.string(),
  account: z.string(),
  run_id: z.string(),
  amount_pico: amount,
  evidence: z.enum(EVIDENCES),
  charged_at: z.date(),
});

const correctionSchema = z.object({
  source_reference: z.string(),
  delta_pico: amount,
  evidence: z.enum(EVIDENCES),
  reason: z.string(),
  corrected_at: z.date(),
});

const unbilledSchema = z.object({
  run_id: z.string(),
  account: z.string(),
  subject: z.string(),
  thread_id: z.string(),
  graph_id: z.string(),
  model_calls: z.number(),
  ended_at: z.date(),
  state: z.enum(["awaited", "billing_failed"]),
  missing: z.number(),
});

export function createPostgresLedgerStore({ pool, schema }: LedgerDatabase): LedgerStore {
  const units = `${schema}.usage_units`;
  const unbilled = `${schema}.unbilled_runs`;
  /** The calls of an unbilled run without a unit. Reads the index of a run's units. */
  const missing = `greatest(0, model_calls - (select count(*)::integer from ${units} of_run where of_run.run_id = ${unbilled}.run_id))`;

  /** Prepared once per connection: two of these are on the way of every model call, one of every run. */
  async function run(name: string, text: string, values: readonly unknown[]): Promise<readonly unknown[]> {
    const { rows } = await pool.query<object>({
      name: `billing-${schema}-${name}`,
      text,
      values: [...values],
    });
    return rows;
  }

  async function query(text: string, values: readonly unknown[]): Promise<readonly unknown[]> {
    const { rows } = await pool.query<object>(text, [...values]);
    return rows;
  }

  return {
    async open(unit) {
      await run("open", openUnit(schema), unitValues(unit));
    },
    async doubt(unitId, reason, seen) {
      // Locks the unit's row, which only its own meter and reconciliation write.
      await query(
        `update ${units} set reason = $2, doubted_at = clock_timestamp(), served_model = $3, response_id = $4, input_tokens = $5, output_tokens = $6,
           retries = $7, fallbacks = $8
         where unit_id = $1 and state = 'in_doubt'`,
        [unitId, reason, ...seenValues(seen)],
      );
    },
    async charge(unitId, { amount, evidence, seen }) {
      const values = [unitId, amount, evidence, ...seenValues(seen)];
      return (await run("charge", chargeUnit(schema), values)).length === 1;
    },
    async correct(unitId, from, { amount, evidence, seen }, reason) {
      const values = [unitId, from, amount, evidence, reason, ...seenValues(seen)];
      return (await query(correctUnit(schema), values)).length === 1;
    },
    async close(unitId, state, reason) {
      // Locks the unit's row: a charge that comes at the same time wins or finds the unit written off.
      const rows = await query(
        `update ${units} set state = $2, reason = $3 where unit_id = $1 and state in ('in_doubt', 'unresolved') returning 1`,
        [unitId, state, reason],
      );
      return rows.length === 1;
    },
    async find(unitIds) {
      const rows = await query(`select ${UNIT_COLUMNS} from ${units} where unit_id = any($1::uuid[])`, [
        unitIds.filter(isUuid),
      ]);
      return rows.map(readUnit);
    },
    async list({ state, olderThanMs, account, after, limit }) {
      const rows = await query(
        `select ${UNIT_COLUMNS} from ${units}
         where state = $1 and opened_at <= clock_timestamp() - $2::double precision * interval '1 millisecond'
           and ($3::text is null or account = $3)
           and ($4::timestamptz is null or (opened_at, unit_id) > ($4, $5::uuid))
         order by opened_at, unit_id limit $6`,
        [
          state,
          olderThanMs,
          account ?? null,
          after ? new Date(after.openedAt) : null,
          after?.unitId ?? null,
          limit,
        ],
      );
      return rows.map(readUnit);
    },
    async receipts(runId) {
      const rows = await query(
        `select source_reference, account, run_id, amount_pico, evidence, charged_at from ${schema}.charge_receipts
         where run_id = $1 order by receipt_id`,
        [runId],
      );
      return rows.map((row) => {
        const read = receiptSchema.parse(row);
        return {
          sourceSystem: "litellm",
          sourceReference: read.source_reference,
          account: read.account,
          runId: read.run_id,
          amount: read.amount_pico,
          evidence: read.evidence,
          chargedAt: read.charged_at.getTime(),
        };
      });
    },
    async corrections(unitId) {
      const rows = await query(
        `select source_reference, delta_pico, evidence, reason, corrected_at from ${schema}.charge_corrections
         where source_reference = $1 order by correction_id`,
        [unitId],
      );
      return rows.map((row) => {
        const read = correctionSchema.parse(row);
        return {
          sourceReference: read.source_reference,
          delta: read.delta_pico,
          evidence: read.evidence,
          reason: read.reason,
          correctedAt: read.corrected_at.getTime(),
        };
      });
    },
    async billOf(runId) {
      const [row] = await run("bill", `select ${BILL} from ${units} where run_id = $1`, [runId]);
      return toBill(row);
    },
    async billsOf(runIds) {
      const rows = await query(
        `select run_id as key, ${BILL} from ${units} where run_id = any($1::text[]) group by run_id`,
        [runIds],
      );
      return new Map(rows.map((row) => [keyOf(row), toBill(row)]));
    },
    async unitsOf(runId, limit) {
      const rows = await run(
        "units-of",
        `select ${UNIT_COLUMNS} from ${units} where run_id = $1 order by opened_at, unit_id limit $2`,
        [runId, limit],
      );
      return rows.map(readUnit);
    },
    async addUnbilled({ runId, account, subject, threadId, graphId, modelCalls }) {
      await query(
        `insert into ${unbilled} (run_id, account, subject, thread_id, graph_id, model_calls) values ($1, $2, $3, $4, $5, $6)
         on conflict (run_id) do update set model_calls = greatest(${unbilled}.model_calls, excluded.model_calls)`,
        [runId, account, subject ?? "", threadId, graphId, modelCalls],
      );
    },
    async listUnbilled({ state, account, after, limit }) {
      const rows = await query(
        `select run_id, account, subject, thread_id, graph_id, model_calls, ended_at, state, ${missing} as missing from ${unbilled}
         where ($1::text is null or state = $1) and ($2::text is null or account = $2)
           and ($3::timestamptz is null or (ended_at, run_id) > ($3, $4::text))
         order by ended_at, run_id limit $5`,
        [state ?? null, account ?? null, after ? new Date(after.endedAt) : null, after?.runId ?? null, limit],
      );
      return rows.map(toUnbilled);
    },
    async failUnbilled(runId) {
      // Locks the run's row: of two passes that end the wait at once one finds it ended.
      const rows = await query(
        `update ${unbilled} set state = 'billing_failed' where run_id = $1 and state = 'awaited' and ${missing} > 0 returning 1`,
        [runId],
      );
      return rows.length === 1;
    },
    async dropUnbilled(runIds, which) {
      await query(
        `delete from ${unbilled} where run_id = any($1::text[]) and ($2::boolean or ${missing} = 0)`,
        [runIds, which === "all"],
      );
    },
    async usage({ account, from, to, by, subject, graphId, model, after, limit }) {
      const rows = await query(readUsage(schema, by), [
        account,
        new Date(from),
        new Date(to),
        subject ?? null,
        after ?? null,
        limit + 1,
        graphId ?? null,
        model ?? null,
      ]);
      const read = rows.map((row) => ({ key: keyOf(row), ...toBill(row) }));
      const page = read.slice(0, limit);
      return { rows: page, next: read.length > limit ? page.at(-1)?.key : undefined };
    },
    async spentSince(account, subject, since) {
      if (since.length === 0) return [];
      const sums = since.map(
        (_, index) =>
          `coalesce(sum(billed_pico) filter (where opened_at >= $${index + 4}), 0)::text as s${index}`,
      );
      const [row] = await query(
        `select ${sums.join(", ")} from ${units}
         where account = $1 and ($2::text is null or subject = $2) and opened_at >= $3`,
        [account, subject ?? null, new Date(Math.min(...since)), ...since.map((time) => new Date(time))],
      );
      const read = z.record(z.string(), amount).parse(row);
      return since.map((_, index) => read[`s${index}`] ?? 0n);
    },
    async knownKeys(hashes) {
      const rows = await query(
        `select hash from unnest($1::text[]) as asked (hash)
         where exists (select 1 from ${units} where key_hash = hash)`,
        [hashes],
      );
      return new Set(rows.map((row) => z.object({ hash: z.string() }).parse(row).hash));
    },
    async redact({ account, subject, threadId, openedBefore }) {
      // Locks the rows of the scope. Those of a run under way are redacted by the deletion's next sweep.
      const before = openedBefore === undefined ? null : new Date(openedBefore);
      const scope = [account, subject ?? null, threadId ?? null, before];
      const inScope = `account = $1 and ($2::text is null or subject = $2) and ($3::text is null or thread_id = $3) and thread_id <> ''`;
      await query(
        `update ${units} set subject = '', thread_id = '', request_id = '', trace_id = ''
         where ${inScope} and ($4::timestamptz is null or opened_at < $4)`,
        scope,
      );
      await query(
        `update ${unbilled} set subject = '', thread_id = ''
         where ${inScope} and ($4::timestamptz is null or ended_at < $4)`,
        scope,
      );
    },
  };
}

function toUnbilled(row: unknown): UnbilledRun {
  const { run_id, subject, thread_id, graph_id, model_calls, ended_at, ...read } = unbilledSchema.parse(row);
  return {
    ...read,
    runId: run_id,
    subject: subject === "" ? undefined : subject,
    threadId: thread_id,
    graphId: graph_id,
    modelCalls: model_calls,
    endedAt: ended_at.getTime(),
  };
}

function keyOf(row: unknown): string {
  return z.object({ key: z.string() }).parse(row).key;
}

function toBill(row: unknown): RunBill {
  const { input_tokens, output_tokens, ...read } = billSchema.parse(row);
  return { ...read, inputTokens: input_tokens, outputTokens: output_tokens };
}

/** A fact may name anything as its unit; PostgreSQL refuses to compare a uuid with what is none. */
function isUuid(text: string): boolean {
  return z.guid().safeParse(text).success;
}
/**
 * Marks a unit `settled` and writes its receipt, in one statement, so that neither is without the other. Locks the unit's row:
 * of two that charge it the second finds it settled and writes nothing. Returns one row where it charged.
 */
function chargeUnit(schema: string): string {
  return `
with moved as (
  update ${schema}.usage_units set state = 'settled', reason = null, evidence = $3, billed_pico = $2,
    served_model = $4, response_id = $5, input_tokens = $6, output_tokens = $7, retries = $8, fallbacks = $9
  where unit_id = $1 and state in ('in_doubt', 'unresolved')
  returning unit_id, account, run_id
)
insert into ${schema}.charge_receipts (source_system, source_reference, account, run_id, amount_pico, evidence)
select 'litellm', moved.unit_id::text, moved.account, moved.run_id, $2, $3 from moved
returning 1`;
}
/**
 * Moves a settled unit's amount from $2 to $3 and writes the difference as a correction. Locks the unit's row and compares its
 * amount under the lock: of two corrections from one amount the second writes nothing. Gives one row where it corrected.
 */
function correctUnit(schema: string): string {
  return `
with moved as (
  update ${schema}.usage_units set billed_pico = $3, evidence = $4,
    served_model = $6, response_id = $7, input_tokens = $8, output_tokens = $9, retries = $10, fallbacks = $11
  where unit_id = $1 and state = 'settled' and billed_pico = $2 and $2::bigint <> $3::bigint
  returning unit_id
)
insert into ${schema}.charge_corrections (source_system, source_reference, delta_pico, evidence, reason)
select 'litellm', moved.unit_id::text, $3::bigint - $2::bigint, $4, $5 from moved
returning 1`;
}
/** Records a unit in doubt, before its request is sent. Locks nothing that exists; a repetition changes nothing. */
function openUnit(schema: string): string {
  return `
insert into ${schema}.usage_units (unit_id, run_id, attempt, ordinal, account, subject, virtual_key_id, key_hash, request_id,
  trace_id, thread_id, graph_id, executor_type, model)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
on conflict (unit_id) do nothing`;
}

const KEYS: Readonly<Record<UsageGroup, string>> = {
  day: `to_char(opened_at at time zone 'UTC', 'YYYY-MM-DD') collate "C"`,
  agent: "graph_id",
  model: "coalesce(served_model, model, '')",
  person: "subject",
  run: "run_id",
};

/** Columns of the sums over units. Sums are numeric, which no number of units overflows. */
const BILL = `count(*)::integer as calls, coalesce(sum(input_tokens), 0) as input_tokens,
  coalesce(sum(output_tokens), 0) as output_tokens, coalesce(sum(billed_pico), 0) as amount,
  (count(*) filter (where state in ('in_doubt', 'unresolved')))::integer as unpriced`;

/** One page of an account's usage between $2 and $3, by group, in order of the groups' keys. Locks nothing. */
function readUsage(schema: string, by: UsageGroup): string {
  const key = KEYS[by];
  return `
select ${key} as key, ${BILL}
from ${schema}.usage_units
where account = $1 and opened_at >= $2 and opened_at < $3 and ($4::text is null or subject = $4)
  and ($5::text is null or ${key} > $5)
  and ($7::text is null or ${KEYS.agent} = $7) and ($8::text is null or ${KEYS.model} = $8)
group by 1 order by 1 limit $6`;
}
