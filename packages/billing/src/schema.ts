/** Has the form of thread-log's migrations, which apply it. */
export interface BillingMigration {
  readonly id: number;
  readonly runsWith?: number;
  readonly statements: (schema: string) => readonly string[];
}

/** Runs of LangGraph servers whose calls LiteLLM's log has not shown. */
const UNBILLED_MIGRATION: BillingMigration = {
  id: 6,
  runsWith: 1,
  statements: (schema) => [
    `create table ${schema}.unbilled_runs (
      run_id text collate "C" primary key,
      account text collate "C" not null,
      subject text collate "C" not null,
      thread_id text collate "C" not null,
      graph_id text collate "C" not null,
      model_calls integer not null,
      ended_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
      state text collate "C" not null default 'awaited'
    )`,
    `create index unbilled_runs_by_end on ${schema}.unbilled_runs (state, ended_at, run_id)`,
    `create index unbilled_runs_of_account on ${schema}.unbilled_runs (account, ended_at, run_id)`,
  ],
};

const LEDGER_MIGRATION: BillingMigration = {
  id: 1,
  statements: (schema) => [
    // `billed_pico` is the receipt with its corrections, moved by the same statements: a correction compares and moves it, so
    // that two of them can't both start from the same amount.
    `create table ${schema}.usage_units (
      unit_id uuid primary key,
      run_id text collate "C" not null,
      attempt integer not null,
      ordinal integer not null,
      account text collate "C" not null,
      subject text collate "C" not null,
      virtual_key_id text collate "C" not null,
      key_hash text collate "C" not null,
      request_id text not null,
      trace_id text not null,
      thread_id text collate "C" not null,
      graph_id text collate "C" not null,
      executor_type text collate "C" not null,
      model text collate "C",
      opened_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
      state text collate "C" not null default 'in_doubt',
      reason text,
      doubted_at timestamptz,
      served_model text collate "C",
      response_id text,
      input_tokens bigint not null default 0,
      output_tokens bigint not null default 0,
      retries integer not null default 0,
      fallbacks integer not null default 0,
      evidence text collate "C",
      billed_pico bigint
    )`,
    `create index usage_units_of_run on ${schema}.usage_units (run_id)`,
    // Budgets add up a month before each call: the sum is read from the index alone.
    `create index usage_units_of_account on ${schema}.usage_units (account, opened_at) include (subject, billed_pico)`,
    `create index usage_units_open on ${schema}.usage_units (state, opened_at, unit_id)
       where state in ('in_doubt', 'unresolved')`,
    `create index usage_units_by_key on ${schema}.usage_units (key_hash)`,
    `create table ${schema}.charge_receipts (
      receipt_id bigint generated always as identity primary key,
      source_system text collate "C" not null,
      source_reference text collate "C" not null,
      account text collate "C" not null,
      run_id text collate "C" not null,
      amount_pico bigint not null check (amount_pico >= 0),
      evidence text collate "C" not null,
      charged_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
      unique (source_system, source_reference)
    )`,
    `create index charge_receipts_of_run on ${schema}.charge_receipts (run_id)`,
    `create table ${schema}.charge_corrections (
      correction_id bigint generated always as identity primary key,
      source_system text collate "C" not null,
      source_reference text collate "C" not null,
      delta_pico bigint not null,
      evidence text collate "C" not null,
      reason text not null,
      corrected_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
      foreign key (source_system, source_reference) references ${schema}.charge_receipts (source_system, source_reference)
    )`,
    `create index charge_corrections_of_unit on ${schema}.charge_corrections (source_reference)`,
  ],
};

const BUDGET_MIGRATION: BillingMigration = {
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

const KEY_MIGRATION: BillingMigration = {
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

const FACT_MIGRATION: BillingMigration = {
  id: 3,
  runsWith: 1,
  statements: (schema) => [
    `create table ${schema}.spend_facts (
      source text collate "C" not null,
      call_id text collate "C" not null,
      request_id text collate "C" not null,
      status text collate "C" not null,
      unit_id text collate "C",
      key_hash text collate "C" not null,
      spend_pico bigint not null,
      input_tokens bigint not null,
      output_tokens bigint not null,
      cache_hit boolean not null,
      error_code text,
      model_group text,
      ended_at timestamptz not null,
      claimed boolean not null,
      primary key (source, call_id, request_id, status)
    )`,
    `create index spend_facts_unclaimed on ${schema}.spend_facts (ended_at) where not claimed`,
    `create index spend_facts_by_age on ${schema}.spend_facts using brin (ended_at)`,
    `create table ${schema}.spend_positions (source text collate "C" primary key, position text not null)`,
  ],
};

/** Adds the labels of a call: by these an operator identifies the owner of a row that no unit claims. */
const FACT_LABELS_MIGRATION: BillingMigration = {
  id: 5,
  runsWith: 1,
  statements: (schema) => [
    `alter table ${schema}.spend_facts add column labels jsonb not null default '{}'::jsonb`,
  ],
};

/** The table that remembers which of billing's migrations were applied. */
export const BILLING_MIGRATIONS_RECORD = "billing_migrations";

/** Migrations of billing's tables, each named after the concept it belongs to. Ids are unique and never reused. */
export const BILLING_MIGRATIONS: readonly BillingMigration[] = [
  LEDGER_MIGRATION,
  KEY_MIGRATION,
  FACT_MIGRATION,
  BUDGET_MIGRATION,
  FACT_LABELS_MIGRATION,
  UNBILLED_MIGRATION,
];
