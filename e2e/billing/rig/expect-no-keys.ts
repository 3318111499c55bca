import { expect } from "vitest";
import type { BilledService } from "./billed-service.js";

/** None of these keys is in a table of the service or in what its instances printed. */
export async function expectNoKeys(
  { pool, servers }: Pick<BilledService, "pool" | "servers">,
  keys: readonly string[],
): Promise<void> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`,
  );
  expect(tables.length).toBeGreaterThan(10);
  for (const { name } of tables) {
    const { rows } = await pool.query<{ row: string }>(`select t::text as row from ${name} t`);
    const text = rows.map(({ row }) => `${row}${decodeHex(row)}`).join("\n");
    for (const key of keys) expect(text.includes(key), `${name} holds a key`).toBe(false);
  }
  for (const server of servers) {
    for (const key of keys) expect(server.log()).not.toContain(key);
  }
}

/** Checkpoints hold their blobs as bytes. */
function decodeHex(text: string): string {
  return [...text.matchAll(/\\x([0-9a-f]+)/g)]
    .map(([, hex = ""]) => Buffer.from(hex, "hex").toString("latin1"))
    .join();
}
