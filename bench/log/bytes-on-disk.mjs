import { randomUUID } from "node:crypto";
import { compactEntries } from "@throughline/stream-adapter";
import { createPostgresLogStore, createThreadLog, openPostgres } from "@throughline/thread-log";
import pg from "pg";
import { realRun } from "./real-run.mjs";

const SCHEMA = "on_disk";
/** As many as a driver's commit carries while a model speaks fast. */
const ENTRIES_PER_APPEND = 4;

/** What runs cost on disk: entries whole, as they were stored once, by template as they are now, and compacted. */
export async function measureBytesOnDisk(url, { runs }) {
  const threads = Array.from({ length: runs }, () => {
    const thread = { account: "bench", threadId: randomUUID() };
    return { thread, envelopes: realRun(thread) };
  });
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  const database = await openPostgres({ connection: url, schema: SCHEMA });
  const compaction = { afterMs: -60_000, merge: compactEntries };
  const log = createThreadLog({ store: createPostgresLogStore(database), compaction });
  try {
    await writeWhole(pool, threads);
    await Promise.all(threads.map((each) => writeRun(log, each)));
    const now = [`${SCHEMA}.log_entries`, `${SCHEMA}.entry_templates`];
    const whole = await sizeOf(pool, ["whole_entries"]);
    const byTemplate = await sizeOf(pool, now);
    for (let after; ; ) {
      ({ next: after } = await log.compact({ after }));
      if (after === undefined) break;
    }
    // What compaction frees is filled by later entries; packed, it shows how little is left.
    for (const table of now) await pool.query(`vacuum full ${table}`);
    const compacted = await sizeOf(pool, now);
    return { whole: whole / runs, byTemplate: byTemplate / runs, compacted: compacted / runs };
  } finally {
    await log.close();
    await database.close();
    await pool.end();
  }
}

async function writeRun(log, { thread, envelopes }) {
  const fence = { threadId: thread.threadId, runId: envelopes[0].run_id, token: 1n };
  await log.open(thread, fence);
  for (let from = 0; from < envelopes.length; from += ENTRIES_PER_APPEND) {
    const result = await log.append(thread, envelopes.slice(from, from + ENTRIES_PER_APPEND), fence);
    if (!result.ok) throw new Error(`An append was refused: ${result.reason}.`);
  }
}

/** The table and the insert as they were before entries were stored by template. Threads take turns, as when they run together. */
async function writeWhole(pool, threads) {
  await pool.query(`create table whole_entries (
    log_id bigint not null, seq bigint not null, at timestamptz not null, bytes integer not null,
    end_of_run text collate "C", envelope text not null, primary key (log_id, seq))`);
  await pool.query(
    "create index whole_terminals on whole_entries (log_id, seq) where end_of_run is not null",
  );
  const longest = Math.max(...threads.map(({ envelopes }) => envelopes.length));
  for (let from = 0; from < longest; from += ENTRIES_PER_APPEND) {
    const rows = threads.flatMap(({ envelopes }, thread) =>
      envelopes
        .slice(from, from + ENTRIES_PER_APPEND)
        .map((envelope, n) => ({ thread: thread + 1, seq: from + n + 1, envelope })),
    );
    await pool.query(
      `insert into whole_entries (log_id, seq, at, bytes, end_of_run, envelope)
       select e.log_id, e.seq, clock_timestamp(), octet_length(e.envelope), e.end_of_run, e.envelope
       from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) as e (log_id, seq, end_of_run, envelope)`,
      [
        rows.map(({ thread }) => thread),
        rows.map(({ seq }) => seq),
        rows.map(({ envelope }) => (envelope.type === "run_end" ? envelope.run_id : null)),
        rows.map(({ envelope }) => JSON.stringify(envelope)),
      ],
    );
  }
}

/** Rows, indexes and what was moved out of line. */
async function sizeOf(pool, tables) {
  const { rows } = await pool.query(
    "select sum(pg_total_relation_size(name::regclass))::bigint as bytes from unnest($1::text[]) as name",
    [tables],
  );
  return Number(rows[0].bytes);
}
