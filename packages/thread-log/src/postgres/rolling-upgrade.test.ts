import type { Envelope } from "@throughline/ai-core";
import type pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../conformance/eventually.js";
import {
  fenceOf,
  newThread,
  note,
  notes,
  readAll,
  runEnd,
  textFold,
  textsOf,
  write,
} from "../conformance/log-scene.js";
import { createThreadLog } from "../log/create-thread-log.js";
import type { ThreadLog } from "../log/thread-log.js";
import { type InstanceBefore, openInstanceBefore } from "../testing/statements-before.js";
import { openTestDatabase, type TestDatabase } from "../testing/test-database.js";
import { openTestPool } from "../testing/test-pool.js";
import { type ThreadRef, threadTag } from "../thread-ref.js";
import { openPostgres, type PostgresDatabase } from "./database.js";
import { createPostgresLogStore } from "./log/log-store.js";
import { migrate } from "./schema/migrate.js";
import { MIGRATIONS } from "./schema/tables.js";

const RECORD = "migrations";
const before = MIGRATIONS.filter(({ id }) => id < 5);

let server: TestDatabase;
let pool: pg.Pool;
let count = 0;
beforeAll(async () => {
  server = await openTestDatabase();
  pool = openTestPool(server.url, 2);
});
afterAll(async () => {
  await pool.end();
  await server.close();
});

describe("Beside an instance of the version before, which keeps running while the database is migrated", () => {
  let schema: string;
  let old: InstanceBefore;
  let database: PostgresDatabase;
  let log: ThreadLog;
  let thread: ThreadRef;

  /** The old instance writes, reads and prepares its statements; then the new one starts. */
  beforeEach(async () => {
    count += 1;
    schema = `rolling_${count}`;
    await migrate(pool, schema, { record: RECORD, migrations: before });
    old = await openInstanceBefore(server.url, schema);
    thread = newThread();
    await pool.query(
      `insert into ${schema}.threads (account, subject, thread_id, epoch, fence) values ($1, '', $2, 'e', 1)`,
      [thread.account, thread.threadId],
    );
    expect(await old.append(thread, 1n, "before.1", notes(thread, "a", "b"))).toBe("ok");
    expect(await oldTexts()).toEqual(["a", "b"]);
    await old.load(thread, textFold.version);
    database = await openPostgres({ connection: server.url, schema });
    log = createThreadLog({ store: createPostgresLogStore(database), pollEveryMs: 3_600_000 });
  });
  afterEach(async () => {
    await log.close();
    await database.close();
    await old.close();
  });

  const textOf = (envelope: unknown) => textsOf([{ epoch: "e", seq: 1, envelope: envelope as Envelope }])[0];
  const oldTexts = async () => (await old.read(thread, 0, 1_000)).map(({ envelope }) => textOf(envelope));
  const newTexts = async () => {
    const answer = await log.read(thread, undefined, 1_000);
    return answer.kind === "entries" ? textsOf(answer.entries) : answer;
  };
  const append = (token: number, ...texts: string[]) =>
    log.append(thread, notes(thread, ...texts), fenceOf(thread, token));
  const templates = async () =>
    Number((await pool.query(`select count(*) from ${schema}.entry_templates`)).rows[0].count);

  it("each reads what the other wrote, whole and in order, and fences hold between them", async () => {
    expect(await newTexts()).toEqual(["a", "b"]);
    expect(await append(2, "c", "d", "e")).toMatchObject({ ok: true, first: 3, last: 5 });
    expect(await templates()).toBe(1);
    expect(await old.append(thread, 1n, "before.2", [note(thread, "late")])).toBe("fenced");
    expect(await old.append(thread, 3n, "before.3", notes(thread, "f", "g"))).toBe("ok");
    expect(await old.append(thread, 3n, "before.3", notes(thread, "f", "g"))).toBe("again");
    expect(await append(2, "late")).toEqual({ ok: false, reason: "fenced" });
    expect(await append(4, "h", "i")).toMatchObject({ ok: true, first: 8, last: 9 });
    const all = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    expect(await oldTexts()).toEqual(all);
    expect(await newTexts()).toEqual(all);
    expect((await old.read(thread, 0, 100)).map(({ seq }) => seq)).toEqual(all.map((_, i) => i + 1));
    expect((await old.load(thread, 1)).envelopes.map(textOf)).toEqual(all);
    const { rows } = await pool.query(
      `select bool_and(bytes = octet_length(envelope)) as same, sum(bytes) as bytes from ${schema}.entries`,
    );
    const held = await pool.query(`select held_bytes from ${schema}.threads`);
    expect(rows[0]).toEqual({ same: true, bytes: held.rows[0].held_bytes });
  });

  it("an append of either wakes the other", async () => {
    const tail = log.tail(thread, undefined)[Symbol.asyncIterator]();
    const { value: past } = await tail.next();
    expect(past.kind === "entries" && textsOf(past.entries)).toEqual(["a", "b"]);
    const next = tail.next();
    expect(await old.append(thread, 1n, "before.2", [note(thread, "c")])).toBe("ok");
    const { value } = await next;
    expect(value.kind === "entries" && textsOf(value.entries)).toEqual(["c"]);
    await tail.return?.();
    await append(2, "d");
    await eventually(() => expect(old.wokenTags()).toContain(threadTag(thread)));
  });

  it("both write different threads and one thread in turn at the same time, and nothing is lost or doubled", async () => {
    const own = newThread();
    await log.open(own, fenceOf(own, 1));
    const round = async (i: number) => {
      await Promise.all([
        old.append(thread, 5n, `before.${i}.1`, [note(thread, `old ${i}`)]),
        append(5, `new ${i}`),
        log.append(own, notes(own, `own ${i}`), fenceOf(own, 1)),
      ]);
    };
    for (let i = 0; i < 20; i++) await round(i);
    const all = await oldTexts();
    expect(await newTexts()).toEqual(all);
    for (const who of ["old", "new"]) {
      const theirs = all.filter((text) => text?.startsWith(who));
      expect(theirs).toEqual(Array.from({ length: 20 }, (_, i) => `${who} ${i}`));
    }
    expect(await log.head(own)).toMatchObject({ seq: 20 });
  });

  it("snapshots of both are saved, trims of both leave the same, and what a trim leaves can be read", async () => {
    await append(2, "c", "d", "e");
    const epoch = (await log.head(thread))?.epoch ?? "";
    const snapshot = (seq: number) => ({ position: { epoch, seq }, foldVersion: 7, state: [`at ${seq}`] });
    expect(await old.saveSnapshot(thread, { epoch, seq: 3 }, 7, ["at 3"])).toBe(true);
    expect(await log.snapshot(thread, [7])).toEqual(snapshot(3));
    expect(await log.saveSnapshot(thread, snapshot(4))).toBe(true);
    expect(await old.load(thread, 7)).toMatchObject({ snapshot: ["at 4"] });
    expect(await old.excess(thread, 1)).toBe(5);
    expect(await old.trim(thread, 3)).toBe(3);
    expect(await oldTexts()).toEqual(["d", "e"]);
    expect(await log.trim(thread, { maxEntries: 1 })).toEqual({ dropped: 1, floor: 5 });
    await append(2, "f");
    expect(await oldTexts()).toEqual(["e", "f"]);
    expect(await log.read(thread, { epoch, seq: 4 })).toMatchObject({
      kind: "entries",
      entries: [{ seq: 5 }, { seq: 6 }],
    });
  });

  it("a thread that the old one deletes leaves nothing of what the new one wrote", async () => {
    await append(2, "c", "d");
    await log.append(thread, [runEnd(thread, "r")], fenceOf(thread, 2));
    await old.deleteThread(thread);
    for (const table of ["log_entries", "entry_templates", "snapshots"]) {
      expect((await pool.query(`select * from ${schema}.${table}`)).rows).toEqual([]);
    }
    expect(await append(2, "late")).toEqual({ ok: false, reason: "deleted" });
  });

  it("what the old one trims or deletes is of one thread", async () => {
    const [other, deleted] = [newThread(), newThread()];
    const texts = ["1", "2", "3", "4", "5", "6"];
    for (const each of [other, deleted]) await write(log, each, texts);
    await log.deleteThread(deleted);
    await append(2, "c", "d", "e");
    const epoch = (await log.head(thread))?.epoch ?? "";
    await old.saveSnapshot(thread, { epoch, seq: 3 }, 7, ["at 3"]);
    await old.trim(thread, 3);
    expect(await oldTexts()).toEqual(["d", "e"]);
    expect(await readAll(log, other)).toEqual(texts);
    await old.deleteThread(thread);
    expect(await readAll(log, other)).toEqual(texts);
  });

  it("the end of a run may be recorded twice, and no other entry", async () => {
    const record = (seq: number, endOfRun: string | null) =>
      pool.query(
        `insert into ${schema}.entries (log_id, seq, at, bytes, end_of_run, envelope)
         select log_id, $1, now(), 2, $2, '{}' from ${schema}.threads`,
        [seq, endOfRun],
      );
    for (const _ of ["once", "again"]) await record(7, "r");
    await record(8, null);
    await expect(record(8, null)).rejects.toMatchObject({ code: "23505" });
  });
});

describe("A version that finds tables which a newer one has changed", () => {
  const newer = (runsWith?: number) => ({
    id: 1_000,
    ...(runsWith !== undefined && { runsWith }),
    statements: (schema: string) => [`create table ${schema}.novelty (id int)`],
  });

  it("refuses to start and says what to do", async () => {
    await migrate(pool, "newer", { record: RECORD, migrations: [...MIGRATIONS, newer()] });
    await expect(openPostgres({ connection: server.url, schema: "newer" })).rejects.toThrow(
      "A newer version of Throughline has changed the database (newer.migrations has 1000, this version knows 7)",
    );
  });

  it("starts where the newer one says that it can", async () => {
    await migrate(pool, "kind", { record: RECORD, migrations: [...MIGRATIONS, newer(7)] });
    const database = await openPostgres({ connection: server.url, schema: "kind" });
    await database.close();
  });

  it("records how far back each migration reaches, also where the record had no room for it", async () => {
    await migrate(pool, "recorded", { record: RECORD, migrations: before });
    await pool.query("alter table recorded.migrations drop column runs_with");
    await migrate(pool, "recorded", { record: RECORD, migrations: before });
    await migrate(pool, "recorded", { record: RECORD, migrations: MIGRATIONS });
    const { rows } = await pool.query(
      "select id, runs_with from recorded.migrations order by id desc limit 4",
    );
    expect(rows).toEqual([
      { id: 7, runs_with: 6 },
      { id: 6, runs_with: 5 },
      { id: 5, runs_with: 4 },
      { id: 4, runs_with: null },
    ]);
  });
});
