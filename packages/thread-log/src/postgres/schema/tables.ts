import { createStartRun } from "../registry/start-statement.js";

/**
 * Migration 5. Entries are stored by template, and code from before it goes on reading and writing whole envelopes through a view
 * that bears the table's old name. Nothing is rewritten: a rename and two columns, under locks that are held for milliseconds
 * once they are granted. They are taken in the order in which an append takes them, so that the two can't wait for each other.
 */
function entriesByTemplate(schema: string): readonly string[] {
  return [
    `lock table ${schema}.threads in access exclusive mode`,
    `lock table ${schema}.entries in access exclusive mode`,
    // Up to this seq entries may have been merged into later ones.
    `alter table ${schema}.threads add column compacted bigint not null default 0`,
    `alter table ${schema}.entries rename to log_entries`,
    `alter table ${schema}.log_entries rename column envelope to body`,
    // Null: the body is the whole envelope. Else the holes of this template. Eight columns, of which at least one is null, fit the
    // smallest row header.
    `alter table ${schema}.log_entries add column template bigint`,
    // Ids are random, by the writer. All entries of a token lie before the first of a higher one, so that token and first_seq
    // decide which templates a trimmed log still needs.
    `create table ${schema}.entry_templates (
      log_id bigint not null,
      id bigint not null,
      token bigint not null,
      first_seq bigint not null,
      parts text not null,
      primary key (log_id, id)
    )`,
    `create function ${schema}.join_envelope(parts text, holes text) returns text language sql immutable as $$
      select string_agg(concat(piece.part, piece.hole), '' order by piece.n)
      from unnest(string_to_array(parts, chr(31)), string_to_array(holes, chr(31))) with ordinality as piece (part, hole, n)
    $$`,
    `create view ${schema}.entries as
      select e.log_id, e.seq, e.at, e.bytes, e.end_of_run, case when e.template is null then e.body else
        ${schema}.join_envelope(
          (select p.parts from ${schema}.entry_templates p where p.log_id = e.log_id and p.id = e.template), e.body)
        end as envelope
      from ${schema}.log_entries e`,
    `create function ${schema}.insert_whole_entry() returns trigger language plpgsql as $$
      begin
        insert into ${schema}.log_entries (log_id, seq, at, bytes, end_of_run, body)
        values (new.log_id, new.seq, new.at, new.bytes, new.end_of_run, new.envelope)
        on conflict do nothing;
        -- A terminal may be recorded twice.
        if not found and new.end_of_run is null then
          raise unique_violation using message = 'The entry is there already.';
        end if;
        return new;
      end $$`,
    // A thread that is being deleted is marked before its entries go; its templates go with them.
    `create function ${schema}.delete_entry() returns trigger language plpgsql as $$
      begin
        delete from ${schema}.log_entries where log_id = old.log_id and seq = old.seq;
        delete from ${schema}.entry_templates p using ${schema}.threads t
        where p.log_id = old.log_id and t.log_id = old.log_id and t.deleted;
        return old;
      end $$`,
    `create trigger insert_whole instead of insert on ${schema}.entries
      for each row execute function ${schema}.insert_whole_entry()`,
    `create trigger delete_one instead of delete on ${schema}.entries
      for each row execute function ${schema}.delete_entry()`,
  ];
}

export interface Migration {
  readonly id: number;
  /**
   * The oldest migration whose code still works on the result, so that instances of both versions can run side by side while
   * one is replaced by the other. Absent: only code that knows this migration works.
   */
  readonly runsWith?: number;
  readonly statements: (schema: string) => readonly string[];
}

/**
 * Applied in order, each once; never edited after a release. From 5 on the code of the migration before still works after each,
 * which `runsWith` declares: a rolling upgrade has instances of both versions on one database. (3 did not: an instance from
 * before it can't save snapshots after it.) Keys are text under the "C" collation: they are compared for equality only, and
 * bytes compare fastest.
 */
export const MIGRATIONS: readonly Migration[] = [
  {
    id: 1,
    statements: (schema) => [
      // From one counter for all threads, so that a thread deleted and made again never honours an old token.
      `create sequence ${schema}.fences`,
      `create table ${schema}.meta (key text primary key, value text not null)`,
      // One row per thread is locked, compared and moved by every append. No index holds a column that an append changes,
      // and half of each page is left free, so the new version stays in its page and no index is touched (HOT).
      `create table ${schema}.threads (
        account text collate "C" not null,
        subject text collate "C" not null,
        thread_id text collate "C" not null,
        log_id bigint generated always as identity unique,
        state_key text not null default '',
        epoch text collate "C" not null,
        fence bigint not null,
        deleted boolean not null default false,
        head bigint not null default 0,
        floor bigint not null default 1,
        last_append text collate "C",
        held_bytes bigint not null default 0,
        snapshot_seq bigint not null default 0,
        unfolded_bytes bigint not null default 0,
        created_at timestamptz not null default clock_timestamp(),
        updated_at timestamptz not null default clock_timestamp(),
        primary key (account, subject, thread_id)
      ) with (fillfactor = 50)`,
      // Entries hang on the number of a row that only account, subject and thread together find: 16 bytes of key per entry
      // instead of a hundred. No foreign key, which would be checked once per entry; the row is never removed before them.
      `create table ${schema}.entries (
        log_id bigint not null,
        seq bigint not null,
        at timestamptz not null,
        bytes integer not null,
        end_of_run text collate "C",
        envelope text not null,
        primary key (log_id, seq)
      )`,
      `create index entries_terminals on ${schema}.entries (log_id, seq) where end_of_run is not null`,
      `create table ${schema}.snapshots (
        log_id bigint not null,
        fold_version integer not null,
        seq bigint not null,
        state text not null,
        primary key (log_id, fold_version)
      )`,
      `create table ${schema}.runs (
        run_id text collate "C" primary key,
        account text collate "C" not null,
        subject text collate "C" not null,
        thread_id text collate "C" not null,
        alias text collate "C",
        graph_id text not null,
        origin_kind text not null,
        origin_id text,
        status text collate "C" not null,
        start text,
        start_kind text not null,
        request text not null,
        attempt integer not null default 0,
        owner text,
        fence bigint not null default 0,
        lease_until timestamptz,
        upstream_run_id text,
        stop_requested boolean not null default false,
        preempts boolean not null default false,
        arrival bigint generated always as identity,
        created_at timestamptz not null default clock_timestamp(),
        ended_at timestamptz
      )`,
      // R24, whatever the code above it believes: one running run per thread.
      `create unique index runs_one_running on ${schema}.runs (account, subject, thread_id) where status = 'running'`,
      `create unique index runs_alias on ${schema}.runs (account, subject, thread_id, alias) where alias is not null`,
      `create index runs_of_thread on ${schema}.runs (account, subject, thread_id, arrival)`,
      `create index runs_waiting on ${schema}.runs (arrival) where status = 'queued'`,
      `create index runs_leased on ${schema}.runs (lease_until) where status = 'running'`,
      `create table ${schema}.interrupts (
        account text collate "C" not null,
        subject text collate "C" not null,
        thread_id text collate "C" not null,
        interrupt_id text collate "C" not null,
        run_id text not null,
        answered_by text,
        answer text,
        primary key (account, subject, thread_id, interrupt_id)
      )`,
      `create table ${schema}.stops (
        account text collate "C" not null,
        subject text collate "C" not null,
        thread_id text collate "C" not null,
        run_name text collate "C" not null,
        expires_at timestamptz not null,
        primary key (account, subject, thread_id, run_name)
      )`,
    ],
  },
  {
    id: 2,
    statements: (schema) => [
      `create index runs_open on ${schema}.runs (account) where status in ('running', 'queued')`,
      `create index runs_ended on ${schema}.runs (ended_at) where ended_at is not null`,
      `create index interrupts_answered on ${schema}.interrupts (answered_by) where answered_by is not null`,
    ],
  },
  {
    id: 3,
    // Several snapshots of a fold version, the newest first.
    statements: (schema) => [
      `alter table ${schema}.snapshots drop constraint snapshots_pkey, add primary key (log_id, fold_version, seq)`,
    ],
  },
  {
    id: 4,
    statements: (schema) => [
      // Moved by every change of the thread's runs, stops and interrupts: what was decided by what was read is written only
      // if it still holds.
      `alter table ${schema}.threads add column revision bigint not null default 0`,
      // presumed_dead: the token of the driver whose lease ran out last; alive, it takes its crash back.
      `alter table ${schema}.runs add column crashes integer not null default 0, add column presumed_dead bigint`,
      // Also by thread: what is open in a thread is asked with every start and end, and a thread may have many runs.
      `drop index ${schema}.runs_open`,
      `create index runs_open on ${schema}.runs (account, subject, thread_id) where status in ('running', 'queued')`,
      // Scopes in which nothing may start, because they are being deleted; null is all of them.
      `create table ${schema}.closures (
        closure_id text collate "C" primary key,
        account text collate "C" not null,
        subject text collate "C",
        thread_id text collate "C"
      )`,
      `create index closures_of_account on ${schema}.closures (account)`,
      // A database may have it from when the list of threads was the server's own.
      `create table if not exists ${schema}.thread_listings (
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
      `create index if not exists thread_listings_newest
        on ${schema}.thread_listings (account, subject, last_activity_at desc, thread_id desc)`,
      createStartRun(schema),
    ],
  },
  { id: 5, runsWith: 4, statements: entriesByTemplate },
  {
    id: 6,
    runsWith: 5,
    statements: (schema) => [
      `alter table ${schema}.thread_listings add column forked_from text, add column model text`,
      // What waits for people is asked for by every open console, and is few among all threads of an account.
      `create index thread_listings_waiting
        on ${schema}.thread_listings (account, subject, last_activity_at desc, thread_id desc) where status = 'waiting'`,
    ],
  },
  {
    id: 7,
    runsWith: 6,
    // Which epoch the log continues since a restore, and up to where: cursors from before the backup stay good.
    statements: (schema) => [
      `alter table ${schema}.threads add column restored_from text collate "C", add column restored_at bigint,
        add column restored_as text collate "C"`,
    ],
  },
];
