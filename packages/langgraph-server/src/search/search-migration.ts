import type { Migration } from "@throughline/thread-log";

export const SEARCH_MIGRATION: Migration = {
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
    // Every row has its account among its words, so that the index itself keeps accounts apart: a search reads no other's.
    `create index said_words on ${schema}.said using gin (words)`,
  ],
};

/** How far the threads are indexed that began before messages were. Its only row names the last one. */
export const SEARCH_BACKFILL_MIGRATION: Migration = {
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
