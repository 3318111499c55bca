import { knownLabelsSchema } from "@throughline/ai-core";
import { z } from "zod";
import type { LedgerDatabase } from "../ledger/ledger-database.js";
import { amount, wholeNumber } from "../ledger/unit-row.js";
import type { FactStore } from "./fact-store.js";
import type { SpendFact } from "./spend-fact.js";
import { addFacts } from "./sql/add-facts.js";

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
  labels: knownLabelsSchema.catch({}),
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
