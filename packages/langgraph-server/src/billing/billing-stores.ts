import type { Clock } from "@throughline/ai-core";
import {
  type BudgetStore,
  createMemoryBudgetStore,
  createMemoryFactStore,
  createMemoryKeyStore,
  createMemoryLedgerStore,
  createPostgresBudgetStore,
  createPostgresFactStore,
  createPostgresKeyStore,
  createPostgresLedgerStore,
  type FactStore,
  type KeyStore,
  type LedgerDatabase,
  type LedgerStore,
} from "@throughline/billing";

export interface BillingStores {
  readonly ledger: LedgerStore;
  readonly facts: FactStore;
  readonly budgets: BudgetStore;
  readonly virtualKeys: KeyStore;
}

export function memoryBillingStores(clock: Clock): BillingStores {
  return {
    ledger: createMemoryLedgerStore(clock),
    facts: createMemoryFactStore(),
    budgets: createMemoryBudgetStore(),
    virtualKeys: createMemoryKeyStore(),
  };
}

export function postgresBillingStores(database: LedgerDatabase): BillingStores {
  return {
    ledger: createPostgresLedgerStore(database),
    facts: createPostgresFactStore(database),
    budgets: createPostgresBudgetStore(database),
    virtualKeys: createPostgresKeyStore(database),
  };
}
