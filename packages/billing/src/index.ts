export * from "./billing.js";
export * from "./budgets/budget-store.js";
export { createPostgresBudgetStore } from "./budgets/budget-store.js";
export * from "./budgets/budgets.js";
export * from "./budgets/decide-budget.js";
export * from "./keys/key-ring.js";
export * from "./keys/key-store.js";
export { createPostgresKeyStore } from "./keys/key-store.js";
export * from "./keys/resolvers.js";
export {
  cachedKeys,
  environmentKeys,
  hashKey,
  importKey,
  resealKeys,
  storedKeys,
  withSystemTenant,
} from "./keys/resolvers.js";
export type { LedgerDatabase } from "./ledger/ledger.js";
export * from "./ledger/ledger.js";
export * from "./ledger/ledger.js";
export * from "./ledger/money.js";
export * from "./ledger/period.js";
export { createPostgresLedgerStore } from "./ledger/postgres-ledger.js";
export * from "./ledger/usage.js";
export * from "./ledger/usage.js";
export { usageCsv } from "./ledger/usage.js";

export * from "./litellm/admin.js";
export {
  createMemoryBudgetStore,
  createMemoryFactStore,
  createMemoryKeyStore,
  createMemoryLedgerStore,
} from "./memory.js";
export * from "./meter/events.js";
export * from "./meter/install-fetch.js";
export * from "./meter/install-fetch.js";
export * from "./meter/metered-fetch.js";
export * from "./meter/metered-fetch.js";
export type { UnpricedReason } from "./meter/response.js";
export type { ModelInfo } from "./models/models.js";
export * from "./models/models.js";
export * from "./models/models.js";
export {
  type AttributableRun,
  type AttributeCall,
  createAdoption,
} from "./reconcile/adopt.js";
export * from "./reconcile/fact-store.js";

export { createPostgresFactStore } from "./reconcile/fact-store.js";
export { createJsonlSource } from "./reconcile/jsonl-source.js";
export * from "./reconcile/reconcile.js";
export * from "./reconcile/spend-log.js";

export * from "./reconcile/spend-log.js";
export { createSpendLogSource } from "./reconcile/spend-log.js";
export type { BillingMigration } from "./schema.js";
export * from "./schema.js";
