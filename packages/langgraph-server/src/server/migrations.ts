import { BILLING_MIGRATIONS, BILLING_MIGRATIONS_RECORD } from "@throughline/billing";
import type { Migration } from "@throughline/thread-log";

const ATTACHMENT_MIGRATION: Migration = {
  id: 3,
  statements: (schema) => [
    // Content is null where files are stored in a folder.
    `create table ${schema}.attachments (
      account text collate "C" not null,
      subject text collate "C" not null,
      thread_id text collate "C" not null,
      attachment_id text collate "C" not null,
      mime_type text not null,
      filename text,
      bytes bigint not null,
      content bytea,
      created_at timestamptz not null default clock_timestamp(),
      primary key (account, subject, thread_id, attachment_id)
    )`,
    // Media is compressed already: compressing it again costs time and saves nothing.
    `alter table ${schema}.attachments alter column content set storage external`,
  ],
};

/** Stores files in chunks. Contents that were stored whole remain so and are read in pieces. */
export const ATTACHMENT_CHUNK_MIGRATION: Migration = {
  id: 9,
  statements: (schema) => [
    // The key of the chunks, or of the file in the folder; null where an earlier version wrote the content whole.
    `alter table ${schema}.attachments add column content_id text collate "C"`,
    // The default is for existing rows and those of earlier versions, which do not record whether a message references the file.
    `alter table ${schema}.attachments add column named_at timestamptz default now()`,
    `create index attachments_unnamed on ${schema}.attachments (created_at) where named_at is null`,
    `create table ${schema}.attachment_chunks (
      account text collate "C" not null,
      subject text collate "C" not null,
      thread_id text collate "C" not null,
      content_id text collate "C" not null,
      part integer not null,
      content bytea not null,
      primary key (account, subject, thread_id, content_id, part)
    )`,
    `alter table ${schema}.attachment_chunks alter column content set storage external`,
    // Uploads in progress, and the bytes that each has reserved.
    `create table ${schema}.attachment_uploads (
      account text collate "C" not null,
      subject text collate "C" not null,
      thread_id text collate "C" not null,
      content_id text collate "C" not null,
      bytes bigint not null,
      touched_at timestamptz not null default clock_timestamp(),
      primary key (account, subject, thread_id, content_id)
    )`,
    // Bytes that each account stores and has reserved. One row, so that concurrent uploads can't both take the last byte.
    `create table ${schema}.attachment_usage (account text collate "C" primary key, bytes bigint not null)`,
    `insert into ${schema}.attachment_usage (account, bytes)
       select account, sum(bytes) from ${schema}.attachments group by account`,
  ],
};

const AUDIT_MIGRATION: Migration = {
  id: 7,
  statements: (schema) => [
    // Fields in conditions are columns; the rest is one JSON text, checked whenever it is read.
    `create table ${schema}.audit (
      account text collate "C" not null,
      at timestamptz not null,
      entry_id text collate "C" not null,
      subject text collate "C" not null,
      action text collate "C" not null,
      thread_subject text collate "C",
      thread_id text collate "C",
      details text not null,
      primary key (entry_id)
    )`,
    `create index audit_of_account on ${schema}.audit (account, at, entry_id)`,
    // Entries are written in about the order of their time, so a BRIN block's range is short and the index tiny.
    `create index audit_by_age on ${schema}.audit using brin (at)`,
  ],
};

/** A cron's definition is one JSON text, checked whenever it is read; fields in conditions are columns. */
const CRON_MIGRATION: Migration = {
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

/** Sets unreadable rows aside: a row stores the newest format that failed to read it. */
const UNREADABLE_CRON_MIGRATION: Migration = {
  id: 5,
  statements: (schema) => [
    `alter table ${schema}.crons add column unreadable_format integer`,
    `alter table ${schema}.cron_ticks add column unreadable_format integer`,
  ],
};

/** Closes the scopes of deletions that began before scopes were closed by rows of their own. */
const CLOSURE_MIGRATION: Migration = {
  id: 6,
  statements: (schema) => [
    `insert into ${schema}.closures (closure_id, account, subject, thread_id)
     select deletion_id, account, subject, thread_id from ${schema}.deletions where phase in ('erasing', 'sweeping')
     on conflict do nothing`,
  ],
};

/** The turns of accounts: an account is served after those that were served longer ago. */
const TURN_MIGRATION: Migration = {
  id: 8,
  statements: (schema) => [
    `alter table ${schema}.deletions add column claimed_at timestamptz`,
    `create index deletions_served on ${schema}.deletions (account, claimed_at) where claimed_at is not null`,
    `create index deletions_finished on ${schema}.deletions (finished_at) where finished_at is not null`,
  ],
};

const DELETION_MIGRATION: Migration = {
  id: 4,
  statements: (schema) => [
    // The columns that the work needs are cleared at its end; the rest is the receipt. A null subject means all of them.
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
    // Read at the start of every run.
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

const FEEDBACK_MIGRATION: Migration = {
  id: 10,
  runsWith: 9,
  statements: (schema) => [
    `create table ${schema}.feedback (
      account text collate "C" not null,
      subject text collate "C" not null,
      thread_id text collate "C" not null,
      message_id text collate "C" not null,
      author text collate "C" not null,
      feedback_id text collate "C" not null unique,
      graph_id text not null,
      thread_name text not null,
      run_id text collate "C",
      value text collate "C" not null,
      note text,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      primary key (account, subject, thread_id, message_id, author)
    )`,
    `create index feedback_newest on ${schema}.feedback (account, updated_at desc, feedback_id desc)`,
    `create index feedback_of_author on ${schema}.feedback (account, author, updated_at desc, feedback_id desc)`,
  ],
};

const SEARCH_MIGRATION: Migration = {
  id: 11,
  runsWith: 10,
  statements: (schema) => [
    `create table ${schema}.said (
      account text collate "C" not null,
      subject text collate "C" not null,
      thread_id text collate "C" not null,
      message_id text collate "C" not null,
      graph_id text not null,
      role text collate "C" not null,
      said text not null,
      words tsvector not null,
      said_at timestamptz not null,
      primary key (account, subject, thread_id, message_id)
    )`,
    // Every row has its account among its words, so that the index itself separates accounts: a search reads no other's.
    `create index said_words on ${schema}.said using gin (words)`,
  ],
};

/** The progress of indexing threads that began before the index. Its only row names the last thread. */
const SEARCH_BACKFILL_MIGRATION: Migration = {
  id: 12,
  runsWith: 11,
  statements: (schema) => [
    `create table ${schema}.said_backfill (
      only_row boolean primary key default true check (only_row),
      account text collate "C" not null default '',
      subject text collate "C" not null default '',
      thread_id text collate "C" not null default '',
      created_before timestamptz not null default clock_timestamp(),
      claimed_until timestamptz,
      is_done boolean not null default false
    )`,
    `insert into ${schema}.said_backfill default values`,
  ],
};

/** The table of applied migrations; thread-log has its own. */
export const SERVER_MIGRATIONS_RECORD = "server_migrations";

/** Migrations of the service's own tables. Ids are unique and never reused. */
export const SERVER_MIGRATIONS: readonly Migration[] = [
  CRON_MIGRATION,
  ATTACHMENT_MIGRATION,
  DELETION_MIGRATION,
  CLOSURE_MIGRATION,
  UNREADABLE_CRON_MIGRATION,
  AUDIT_MIGRATION,
  TURN_MIGRATION,
  ATTACHMENT_CHUNK_MIGRATION,
  FEEDBACK_MIGRATION,
  SEARCH_MIGRATION,
  SEARCH_BACKFILL_MIGRATION,
];

/** Migrations of all tables but the log's. Each set has its own table of applied migrations. */
export const SERVICE_MIGRATIONS = [
  { record: SERVER_MIGRATIONS_RECORD, migrations: SERVER_MIGRATIONS },
  { record: BILLING_MIGRATIONS_RECORD, migrations: BILLING_MIGRATIONS },
] as const;
