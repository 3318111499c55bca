import type { JsonObject } from "@throughline/ai-core";
import type { PostgresDatabase } from "@throughline/thread-log";
import { z } from "zod";
import type { AccountRows } from "./account-rows.js";
import { accountRows } from "./sql/account-rows.js";

const ROWS_PER_PAGE = 200;
const keySchema = z.array(z.string());

export function createPostgresAccountRows({ pool, schema }: PostgresDatabase): AccountRows {
  return {
    async page(kind, { account, subject }, after) {
      const { rows } = await pool.query<{ row: JsonObject; key: string[] }>(accountRows(schema, kind), [
        account,
        subject ?? null,
        ROWS_PER_PAGE,
        after === undefined ? null : keySchema.parse(JSON.parse(after)),
      ]);
      const last = rows.length < ROWS_PER_PAGE ? undefined : rows.at(-1);
      return { rows: rows.map(({ row }) => row), next: last && JSON.stringify(last.key) };
    },
  };
}
