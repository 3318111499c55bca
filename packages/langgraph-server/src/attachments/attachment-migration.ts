import type { Migration } from "@throughline/thread-log";

export const ATTACHMENT_MIGRATION: Migration = {
  id: 3,
  statements: (schema) => [
    // Without content where files lie in a folder.
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
    // Media is compressed already: trying again costs time and saves nothing.
    `alter table ${schema}.attachments alter column content set storage external`,
  ],
};
