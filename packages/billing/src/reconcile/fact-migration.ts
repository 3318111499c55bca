import type { BillingMigration } from "../ledger/ledger-migration.js";

export const FACT_MIGRATION: BillingMigration = {
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

/** What a call says of itself: by this a person finds whose a row is that no unit claims. */
export const FACT_LABELS_MIGRATION: BillingMigration = {
  id: 5,
  runsWith: 1,
  statements: (schema) => [
    `alter table ${schema}.spend_facts add column labels jsonb not null default '{}'::jsonb`,
  ],
};
