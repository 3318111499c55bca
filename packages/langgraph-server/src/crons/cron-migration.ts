import type { Migration } from "@throughline/thread-log";

/** A cron's definition is one JSON text, checked whenever it is read; columns are what statements look for. */
export const CRON_MIGRATION: Migration = {
  id: 1,
  statements: (schema) => [
    `create table ${schema}.crons (
      account text collate "C" not null,
      subject text collate "C" not null,
      cron_id text collate "C" not null unique,
      virtual_key_id text not null,
      definition text not null,
      enabled boolean not null,
      anchor_at timestamptz not null,
      next_at timestamptz,
      due_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      primary key (account, subject, cron_id)
    )`,
    `create index crons_due on ${schema}.crons (due_at) where due_at is not null`,
    // A tick is written in the transaction that claims it and becomes a run after that: until then it is pending, and
    // the instance that finds it overdue delivers it again.
    `create table ${schema}.cron_ticks (
      cron_id text collate "C" not null references ${schema}.crons (cron_id) on delete cascade,
      tick_id text collate "C" not null,
      scheduled_at timestamptz not null,
      claimed_at timestamptz not null,
      agent text not null,
      thread_name text not null,
      missed integer not null,
      attempt integer not null,
      retry_at timestamptz,
      outcome text not null,
      primary key (cron_id, tick_id)
    )`,
    `create index cron_ticks_newest on ${schema}.cron_ticks (cron_id, claimed_at desc, tick_id desc)`,
    `create index cron_ticks_pending on ${schema}.cron_ticks (retry_at) where retry_at is not null`,
  ],
};

/** Rows that can't be read are set aside: the newest format that failed to read a row is kept with it. */
export const UNREADABLE_CRON_MIGRATION: Migration = {
  id: 5,
  statements: (schema) => [
    `alter table ${schema}.crons add column unreadable_format integer`,
    `alter table ${schema}.cron_ticks add column unreadable_format integer`,
  ],
};
