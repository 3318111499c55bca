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
