import type { Migration } from "@throughline/thread-log";

export const AUDIT_MIGRATION: Migration = {
  id: 7,
  statements: (schema) => [
    // What statements look for has a column; the rest is one JSON text, checked whenever it is read.
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
    // Entries are written in about the order of their time, so a block's range is short and the index tiny.
    `create index audit_by_age on ${schema}.audit using brin (at)`,
  ],
};
