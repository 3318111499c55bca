import type { Migration } from "@throughline/thread-log";

export const FEEDBACK_MIGRATION: Migration = {
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
