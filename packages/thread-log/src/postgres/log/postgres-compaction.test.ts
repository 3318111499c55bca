import type { LogEntry } from "@throughline/ai-core";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fenceOf, newThread, notes, runEnd, textOf } from "../../conformance/log-scene.js";
import { createThreadLog } from "../../log/create-thread-log.js";
import type { ThreadLog } from "../../log/thread-log.js";
import { openTestDatabase, type TestDatabase } from "../../testing/test-database.js";
import { openTestPool } from "../../testing/test-pool.js";
import { openPostgres } from "../database.js";
import { migrate } from "../schema/migrate.js";
import { MIGRATIONS } from "../schema/tables.js";
import { createPostgresLogStore } from "./log-store.js";

let server: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  server = await openTestDatabase();
  pool = openTestPool(server.url, 2);
});
afterAll(async () => {
  await pool.end();
  await server.close();
});

/** All neighbours become one, which holds the last one's text. */
function mergeAll(entries: readonly LogEntry[]): LogEntry[] {
  return entries.flatMap((entry, index) => {
    if (entry.envelope.type !== "custom") return [entry];
    if (entries[index + 1]?.envelope.type === "custom") return [];
    return [{ ...entry, envelope: { ...entry.envelope, merged: 2 } }];
  });
}

async function using(schema: string, work: (log: ThreadLog) => Promise<void>): Promise<void> {
  const database = await openPostgres({ connection: server.url, schema });
  const compaction = { afterMs: -1_000, merge: mergeAll };
  const log = createThreadLog({ store: createPostgresLogStore(database), compaction });
  try {
    await work(log);
  } finally {
    await log.close();
    await database.close();
  }
}

const thread = newThread();
const fence = fenceOf(thread, 1);
const many = Array.from({ length: 2_500 }, (_, i) => `${i}`);

async function writeRun(log: ThreadLog, runId: string): Promise<void> {
  await log.open(thread, fence);
  await log.append(thread, notes(thread, ...many), fence);
  await log.append(thread, [runEnd(thread, runId)], fence);
}

describe("Compaction in PostgreSQL", () => {
  it("goes by batches, keeps the counts of bytes right and leaves no template that nothing uses", () =>
    using("batches", async (log) => {
      await writeRun(log, "run-1");
      const head = await log.head(thread);
      if (!head) return expect.unreachable();
      const position = { epoch: head.epoch, seq: 1_200 };
      await log.saveSnapshot(thread, { position, foldVersion: 1, state: null });
      await log.append(thread, notes(thread, "open", "still"), fence);
      const dropped = (await log.compact()).dropped;
      // One for each batch, one at the snapshot.
      expect(dropped).toBe(many.length - 4);
      const answer = await log.read(thread, undefined);
      const left = answer.kind === "entries" ? answer.entries : [];
      expect(left.map(({ seq }) => seq)).toEqual([1_000, 1_200, 2_000, 2_500, 2_501, 2_502, 2_503]);
      expect(left.map(textOf).slice(-2)).toEqual(["open", "still"]);
      const { rows } = await pool.query(
        `select t.held_bytes, t.unfolded_bytes, t.compacted, sum(e.bytes)::bigint as held,
           sum(e.bytes) filter (where e.seq > t.snapshot_seq)::bigint as unfolded
         from batches.threads t join batches.log_entries e using (log_id)
         group by t.held_bytes, t.unfolded_bytes, t.compacted`,
      );
      const [row] = rows;
      expect(row).toMatchObject({ compacted: "2501", held_bytes: row.held, unfolded_bytes: row.unfolded });
      const templates = await pool.query("select first_seq from batches.entry_templates");
      expect(templates.rows).toEqual([{ first_seq: "2502" }]);
    }));

  it("waits a day after an upgrade, until no instance of the version before can be left", async () => {
    await migrate(pool, "upgraded", {
      record: "migrations",
      migrations: MIGRATIONS.filter(({ id }) => id < 5),
    });
    await using("upgraded", async (log) => {
      await writeRun(log, "run-1");
      expect(await log.compact()).toEqual({ dropped: 0, next: undefined });
      await pool.query(
        "update upgraded.migrations set applied_at = now() - interval '25 hours' where id = 5",
      );
      expect((await log.compact()).dropped).toBeGreaterThan(0);
    });
  });

  it("deletes what a thread has with it, and trims templates with the last entry that uses them", () =>
    using("dropped", async (log) => {
      const templates = async () =>
        (await pool.query("select token from dropped.entry_templates order by token")).rows.map(
          ({ token }) => token,
        );
      await log.open(thread, fence);
      for (const token of [1, 2, 3]) {
        await log.append(thread, notes(thread, "a", "b", "c"), fenceOf(thread, token));
      }
      expect(await templates()).toEqual(["1", "2", "3"]);
      const head = await log.head(thread);
      if (!head) return expect.unreachable();
      await log.saveSnapshot(thread, { position: head, foldVersion: 1, state: null });
      await log.trim(thread, { maxEntries: 4 });
      expect(await templates()).toEqual(["2", "3"]);
      await log.trim(thread, { maxEntries: 0 });
      expect(await templates()).toEqual(["3"]);
      // The writer believes its template written, and it is.
      await log.append(thread, notes(thread, "d"), fenceOf(thread, 3));
      const answer = await log.read(thread, head);
      expect(answer.kind === "entries" && answer.entries.map(textOf)).toEqual(["d"]);
      await log.deleteThread(thread);
      expect(await templates()).toEqual([]);
    }));
});
