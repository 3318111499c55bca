import type { BillingMigration } from "../ledger/ledger-migration.js";

export const KEY_MIGRATION: BillingMigration = {
  id: 2,
  runsWith: 1,
  statements: (schema) => [
    // `sealed` is `v1.{id of the secret}.{text}`.
    `create table ${schema}.virtual_keys (
      account text collate "C" not null,
      virtual_key_id text collate "C" not null,
      sealed text not null,
      registered boolean not null,
      created_at timestamptz not null default clock_timestamp(),
      primary key (account, virtual_key_id)
    )`,
  ],
};
