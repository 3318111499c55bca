import { z } from "zod";
import type { LedgerDatabase } from "../ledger/ledger-database.js";
import type { KeyStore, StoredKey } from "./key-store.js";
import { addKeyOnce } from "./sql/add-key-once.js";

const rowSchema = z.object({
  account: z.string(),
  virtual_key_id: z.string(),
  sealed: z.string(),
  registered: z.boolean(),
});
const COLUMNS = Object.keys(rowSchema.shape).join(", ");

export function createPostgresKeyStore({ pool, schema }: LedgerDatabase): KeyStore {
  const table = `${schema}.virtual_keys`;

  async function query(text: string, values: readonly unknown[]): Promise<readonly StoredKey[]> {
    const { rows } = await pool.query<object>(text, [...values]);
    return rows.map(toKey);
  }

  const valuesOf = (key: StoredKey) => [key.account, key.virtualKeyId, key.sealed, key.isRegistered];

  return {
    async find(account, virtualKeyId) {
      const [key] = await query(
        `select ${COLUMNS} from ${table} where account = $1 and virtual_key_id = $2`,
        [account, virtualKeyId],
      );
      return key;
    },
    async addOnce(key) {
      const [there] = await query(addKeyOnce(schema, COLUMNS), valuesOf(key));
      if (!there) throw new Error("an upsert gives back its row");
      return there;
    },
    async put(key) {
      // Locks the row it replaces.
      await query(
        `insert into ${table} (account, virtual_key_id, sealed, registered) values ($1, $2, $3, $4)
         on conflict (account, virtual_key_id) do update set sealed = excluded.sealed, registered = excluded.registered`,
        valuesOf(key),
      );
    },
    async markRegistered(account, virtualKeyId) {
      await query(`update ${table} set registered = true where account = $1 and virtual_key_id = $2`, [
        account,
        virtualKeyId,
      ]);
    },
    async reseal(key, sealed) {
      const rows = await query(
        `update ${table} set sealed = $4 where account = $1 and virtual_key_id = $2 and sealed = $3 returning ${COLUMNS}`,
        [key.account, key.virtualKeyId, key.sealed, sealed],
      );
      return rows.length === 1;
    },
    notSealedWith: (secretId, limit) =>
      query(`select ${COLUMNS} from ${table} where split_part(sealed, '.', 2) <> $1 limit $2`, [
        secretId,
        limit,
      ]),
    async delete(account) {
      await query(`delete from ${table} where account = $1`, [account]);
    },
  };
}

function toKey(row: unknown): StoredKey {
  const { virtual_key_id, registered, ...read } = rowSchema.parse(row);
  return { ...read, virtualKeyId: virtual_key_id, isRegistered: registered };
}
