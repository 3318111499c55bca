import type { Migration } from "@throughline/thread-log";

/** Deletions that were under way when scopes began to be closed by rows of their own. */
export const CLOSURE_MIGRATION: Migration = {
  id: 6,
  statements: (schema) => [
    `insert into ${schema}.closures (closure_id, account, subject, thread_id)
     select deletion_id, account, subject, thread_id from ${schema}.deletions where phase in ('erasing', 'sweeping')
     on conflict do nothing`,
  ],
};

/** Whose turn it is: an account is served after those that were served longer ago. */
export const TURN_MIGRATION: Migration = {
  id: 8,
  statements: (schema) => [
    `alter table ${schema}.deletions add column claimed_at timestamptz`,
    `create index deletions_served on ${schema}.deletions (account, claimed_at) where claimed_at is not null`,
    `create index deletions_finished on ${schema}.deletions (finished_at) where finished_at is not null`,
  ],
};

export const DELETION_MIGRATION: Migration = {
  id: 4,
  statements: (schema) => [
    // What is needed to do it is taken out when it is done; the rest is the receipt. Without a subject it is of all of them.
    `create table ${schema}.deletions (
      deletion_id text collate "C" primary key,
      account text collate "C" not null,
      subject text collate "C",
      thread_id text collate "C",
      thread_hash text,
      asked_by text not null,
      phase text collate "C" not null,
      listed boolean not null,
      attempt integer not null default 0,
      due_at timestamptz,
      counts text not null,
      requested_at timestamptz not null default clock_timestamp(),
      erased_at timestamptz,
      finished_at timestamptz
    )`,
    `create index deletions_due on ${schema}.deletions (due_at) where due_at is not null`,
    // Asked for every run that starts.
    `create index deletions_open on ${schema}.deletions (account) where phase in ('erasing', 'sweeping')`,
    `create table ${schema}.deletion_threads (
      deletion_id text collate "C" not null references ${schema}.deletions (deletion_id) on delete cascade,
      subject text collate "C" not null,
      thread_id text collate "C" not null,
      graph_id text not null,
      checked_off boolean not null default false,
      primary key (deletion_id, subject, thread_id)
    )`,
  ],
};
