import type { Migration } from "@throughline/thread-log";

export const THREAD_MIGRATION: Migration = {
  id: 2,
  statements: (schema) => [
    `create table ${schema}.thread_listings (
      account text collate "C" not null,
      subject text collate "C" not null,
      thread_id text collate "C" not null,
      graph_id text not null,
      thread_name text not null,
      title text,
      derived_title text,
      search_text text not null,
      archived boolean not null default false,
      status text not null,
      last_run_id text not null,
      token bigint not null,
      created_at timestamptz not null,
      last_activity_at timestamptz not null,
      primary key (account, subject, thread_id)
    )`,
    `create index thread_listings_newest
      on ${schema}.thread_listings (account, subject, last_activity_at desc, thread_id desc)`,
  ],
};
