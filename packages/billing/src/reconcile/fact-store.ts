import { partialCallLabelsSchema } from "@throughline/ai-core";
import { z } from "zod";
import type { LedgerDatabase } from "../ledger/ledger.js";
import { amount, wholeNumber } from "../ledger/unit-row.js";
import type { SpendFact, SpendSource } from "./spend-log.js";

export interface StoredFact {
  readonly fact: SpendFact;
  /** A unit of ours is its own. Otherwise a key of ours was used past the meter. */
  readonly isClaimed: boolean;
}

/** Rows that were read, so that a unit's are seen together, and how far each source was read. */
export interface FactStore {
  /** Adds rows; one that is there already stays as it is, but is claimed once a unit is there that claims it. */
  add(source: SpendSource["name"], facts: readonly StoredFact[]): Promise<void>;
  /** The claimed rows of these units. */
  ofUnits(source: SpendSource["name"], unitIds: readonly string[]): Promise<readonly SpendFact[]>;
  /** Rows of our keys that no unit claims, newest first. */
  unclaimed(limit: number): Promise<readonly SpendFact[]>;
  position(source: SpendSource["name"]): Promise<string | undefined>;
  setPosition(source: SpendSource["name"], position: string): Promise<void>;
  /** Deletes claimed rows that ended before this time. */
  prune(endedBefore: number, limit: number): Promise<number>;
}

const rowSchema = z.object({
  call_id: z.string(),
  request_id: z.string(),
  status: z.enum(["success", "failure"]),
  unit_id: z.string().nullable(),
  key_hash: z.string(),
  spend_pico: amount,
  input_tokens: wholeNumber,
  output_tokens: wholeNumber,
  cache_hit: z.boolean(),
  error_code: z.string().nullable(),
  model_group: z.string().nullable(),
  ended_at: z.date(),
  labels: partialCallLabelsSchema.catch({}),
});
const COLUMNS = Object.keys(rowSchema.shape).join(", ");

export function createPostgresFactStore({ pool, schema }: LedgerDatabase): FactStore {
  const table = `${schema}.spend_facts`;
  const positions = `${schema}.spend_positions`;

  async function query(text: string, values: readonly unknown[]): Promise<readonly unknown[]> {
    const { rows } = await pool.query<object>(text, [...values]);
    return rows;
  }

  return {
    async add(source, added) {
      if (added.length === 0) return;
      const column = (read: (fact: SpendFact) => unknown) => added.map(({ fact }) => read(fact));
      await query(addFacts(schema), [
        source,
        column(({ callId }) => callId),
        column(({ requestId }) => requestId),
        column(({ status }) => status),
        column(({ unitId }) => unitId),
        column(({ keyHash }) => keyHash),
        column(({ spend }) => String(spend)),
        column(({ inputTokens }) => inputTokens),
        column(({ outputTokens }) => outputTokens),
        column(({ isCacheHit }) => isCacheHit),
        column(({ errorCode }) => errorCode),
        column(({ modelGroup }) => modelGroup),
        column(({ endedAt }) => new Date(endedAt)),
        added.map(({ isClaimed }) => isClaimed),
        column(({ labels }) => JSON.stringify(labels)),
      ]);
    },
    async ofUnits(source, unitIds) {
      const rows = await query(
        `select ${COLUMNS} from ${table} where source = $1 and call_id = any($2::text[]) and claimed`,
        [source, unitIds],
      );
      return rows.map(toFact);
    },
    async unclaimed(limit) {
      const rows = await query(
        `select ${COLUMNS} from ${table} where not claimed order by ended_at desc limit $1`,
        [limit],
      );
      return rows.map(toFact);
    },
    async position(source) {
      const [row] = await query(`select position from ${positions} where source = $1`, [source]);
      return row === undefined ? undefined : z.object({ position: z.string() }).parse(row).position;
    },
    async setPosition(source, position) {
      await query(
        `insert into ${positions} (source, position) values ($1, $2)
         on conflict (source) do update set position = excluded.position`,
        [source, position],
      );
    },
    async prune(endedBefore, limit) {
      const rows = await query(
        `delete from ${table} where ctid = any(array(
           select ctid from ${table} where claimed and ended_at < $1 limit $2)) returning 1`,
        [new Date(endedBefore), limit],
      );
      return rows.length;
    },
  };
}

function toFact(row: unknown): SpendFact {
  const read = rowSchema.parse(row);
  return {
    callId: read.call_id,
    requestId: read.request_id,
    status: read.status,
    unitId: read.unit_id,
    keyHash: read.key_hash,
    spend: read.spend_pico,
    inputTokens: read.input_tokens,
    outputTokens: read.output_tokens,
    isCacheHit: read.cache_hit,
    errorCode: read.error_code,
    modelGroup: read.model_group,
    endedAt: read.ended_at.getTime(),
    labels: read.labels,
  };
}
/**
 * Adds rows of LiteLLM's log. Locks those that are there already and are claimed now: they stay as they are otherwise. A row of
 * another key or label under the same ids is not the one that is claimed.
 */
function addFacts(schema: string): string {
  return `
insert into ${schema}.spend_facts as known (source, call_id, request_id, status, unit_id, key_hash, spend_pico, input_tokens,
  output_tokens, cache_hit, error_code, model_group, ended_at, claimed, labels)
select distinct on (f.call_id, f.request_id, f.status) $1, f.*
from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::bigint[],
  $10::boolean[], $11::text[], $12::text[], $13::timestamptz[], $14::boolean[], $15::jsonb[])
  as f (call_id, request_id, status, unit_id, key_hash, spend_pico, input_tokens, output_tokens, cache_hit, error_code,
    model_group, ended_at, claimed, labels)
order by f.call_id, f.request_id, f.status, f.claimed desc
on conflict (source, call_id, request_id, status) do update set claimed = true
where excluded.claimed and not known.claimed and known.key_hash = excluded.key_hash
  and known.unit_id is not distinct from excluded.unit_id`;
}
