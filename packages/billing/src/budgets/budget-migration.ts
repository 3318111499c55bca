import type { BillingMigration } from "../ledger/ledger-migration.js";

export const BUDGET_MIGRATION: BillingMigration = {
  id: 4,
  runsWith: 1,
  statements: (schema) => [
    // The empty subject is the account as a whole.
    `create table ${schema}.budgets (
      account text collate "C" not null,
      subject text collate "C" not null,
      day_pico bigint,
      month_pico bigint,
      soft_percent integer,
      primary key (account, subject)
    )`,
  ],
};
