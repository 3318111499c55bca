import { BUDGET_MIGRATION } from "./budgets/budget-migration.js";
import { KEY_MIGRATION } from "./keys/key-migration.js";
import { type BillingMigration, LEDGER_MIGRATION, UNBILLED_MIGRATION } from "./ledger/ledger-migration.js";
import { FACT_LABELS_MIGRATION, FACT_MIGRATION } from "./reconcile/fact-migration.js";

/** The table that remembers which of billing's migrations were applied. */
export const BILLING_MIGRATIONS_RECORD = "billing_migrations";

/** Billing's tables, each beside the concept it belongs to. Ids are unique and never reused. */
export const BILLING_MIGRATIONS: readonly BillingMigration[] = [
  LEDGER_MIGRATION,
  KEY_MIGRATION,
  FACT_MIGRATION,
  BUDGET_MIGRATION,
  FACT_LABELS_MIGRATION,
  UNBILLED_MIGRATION,
];
