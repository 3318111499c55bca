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

/** Files come and go in chunks. What was stored whole stays as it is and is read in pieces. */
export const ATTACHMENT_CHUNK_MIGRATION: Migration = {
  id: 9,
  statements: (schema) => [
    // Names the chunks, or the file in the folder; null where an earlier version wrote the content whole.
    `alter table ${schema}.attachments add column content_id text collate "C"`,
    // The default is for what is there and for what earlier versions write: they can't say whether a message names it.
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
    // Uploads under way, and what each has reserved.
    `create table ${schema}.attachment_uploads (
      account text collate "C" not null,
      subject text collate "C" not null,
      thread_id text collate "C" not null,
      content_id text collate "C" not null,
      bytes bigint not null,
      touched_at timestamptz not null default clock_timestamp(),
      primary key (account, subject, thread_id, content_id)
    )`,
    // What each account stores and has reserved. One row, so that uploads side by side can't both take the last byte.
    `create table ${schema}.attachment_usage (account text collate "C" primary key, bytes bigint not null)`,
    `insert into ${schema}.attachment_usage (account, bytes)
       select account, sum(bytes) from ${schema}.attachments group by account`,
  ],
};
