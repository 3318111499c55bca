import { z } from "zod";
import type { LedgerDatabase } from "../ledger/ledger.js";

/** A tenant's key as it is stored: sealed. */
export interface StoredKey {
  readonly account: string;
  readonly virtualKeyId: string;
  readonly sealed: string;
  /** LiteLLM knows it. */
  readonly isRegistered: boolean;
}

/** Sealed keys, one per account and key id. */
export interface KeyStore {
  find(account: string, virtualKeyId: string): Promise<StoredKey | undefined>;
  /** Adds a key unless there is one, and gives the one that is there. Of several at once all get the same. */
  addOnce(key: StoredKey): Promise<StoredKey>;
  /** Sets or replaces a key. */
  put(key: StoredKey): Promise<void>;
  markRegistered(account: string, virtualKeyId: string): Promise<void>;
  /** Replaces a sealed text by another of the same token, unless the key has changed meanwhile. */
  reseal(key: StoredKey, sealed: string): Promise<boolean>;
  /** Keys that were not sealed with the secret of this id. */
  notSealedWith(secretId: string, limit: number): Promise<readonly StoredKey[]>;
  delete(account: string): Promise<void>;
}

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
/**
 * Adds a key unless there is one, and gives the one that is there. The update that changes nothing locks the row and reads it
 * as it is after the lock: of several that add at once all get the first one's key, which `do nothing` would not give.
 */
function addKeyOnce(schema: string, columns: string): string {
  const table = `${schema}.virtual_keys`;
  return `
insert into ${table} as there (account, virtual_key_id, sealed, registered) values ($1, $2, $3, $4)
on conflict (account, virtual_key_id) do update set account = there.account
returning ${columns
    .split(", ")
    .map((column) => `there.${column}`)
    .join(", ")}`;
}
