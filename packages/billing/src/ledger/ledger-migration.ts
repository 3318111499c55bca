/** Has the form of thread-log's migrations, which apply it. */
export interface BillingMigration {
  readonly id: number;
  readonly runsWith?: number;
  readonly statements: (schema: string) => readonly string[];
}

/** Runs of LangGraph servers whose calls LiteLLM's log has not shown. */
export const UNBILLED_MIGRATION: BillingMigration = {
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

export const LEDGER_MIGRATION: BillingMigration = {
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
