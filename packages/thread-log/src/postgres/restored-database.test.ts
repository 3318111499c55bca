import type { LogPosition } from "@throughline/ai-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { fenceOf, newThread, notes, textsOf, write } from "../conformance/log-scene.js";
import { createThreadLog } from "../log/create-thread-log.js";
import type { ThreadLog } from "../log/thread-log.js";
import { openTestDatabase, type TestDatabase } from "../testing/test-database.js";
import { openTestPool } from "../testing/test-pool.js";
import type { ThreadRef } from "../thread-ref.js";
import { hasInstances, renewEpochs } from "./connection/restore.js";
import { databaseId, openPostgres, type PostgresDatabase } from "./database.js";

import { createPostgresLogStore } from "./log/log-store.js";

/** An instance on a database, which a test may end and start on another. */
interface Instance {
  readonly database: PostgresDatabase;
  readonly log: ThreadLog;
  close(): Promise<void>;
}

async function openInstance(url: string): Promise<Instance> {
  const database = await openPostgres({ connection: url, maxConnections: 2 });
  const log = createThreadLog({ store: createPostgresLogStore(database) });
  return {
    database,
    log,
    async close() {
      await log.close();
      await database.close();
    },
  };
}

let home: TestDatabase;
let copies = 0;
const opened: Instance[] = [];
let thread: ThreadRef;
/** Of the last entry in the backup, and of one written after it. */
let backedUp: LogPosition;
let lost: LogPosition;
let copyUrl: string;

async function start(url: string): Promise<Instance> {
  const instance = await openInstance(url);
  opened.push(instance);
  return instance;
}

async function headOf({ log }: Instance): Promise<LogPosition> {
  return (await log.head(thread)) ?? { epoch: "", seq: 0 };
}

/** A copy has the rows of the moment, on the same server and under ids of its own, as a restored dump has. */
async function copyDatabase(): Promise<string> {
  const url = new URL(home.url);
  const name = url.pathname.slice(1);
  copies += 1;
  const copy = `${name}_${copies}`;
  url.pathname = "/postgres";
  const pool = openTestPool(url.href, 1);
  try {
    // Waits up to 5 s for the connections of an instance that has just closed.
    await pool.query(`create database ${copy} template ${name}`);
  } finally {
    await pool.end();
  }
  url.pathname = `/${copy}`;
  return url.href;
}

beforeAll(async () => {
  home = await openTestDatabase();
});
afterAll(() => home.close());
beforeEach(async () => {
  thread = newThread();
  const original = await start(home.url);
  await write(original.log, thread, ["a", "b", "c"]);
  await databaseId(original.database);
  backedUp = await headOf(original);
  await original.close();
  copyUrl = await copyDatabase();
  const again = await start(home.url);
  await again.log.append(thread, notes(thread, "d", "e"), fenceOf(thread, 1));
  lost = await headOf(again);
  await again.close();
});
afterEach(async () => {
  for (const instance of opened.splice(0)) await instance.close();
});

it("R19: a restored database on the same server is noticed: what was lost is never taken for what comes after", async () => {
  const restored = await start(copyUrl);
  const { epoch } = await headOf(restored);
  expect(epoch).not.toBe(backedUp.epoch);
  await restored.log.append(
    thread,
    notes(thread, "other d", "other e", "other f"),
    fenceOf(thread, 2_000_000),
  );
  expect(await restored.log.read(thread, lost)).toEqual({
    kind: "gap",
    reason: "epoch",
    head: { epoch, seq: 6 },
    kept: [],
  });
});

it("R19: a position from before the backup is the same position in what was restored", async () => {
  const restored = await start(copyUrl);
  await restored.log.append(thread, notes(thread, "other d"), fenceOf(thread, 2_000_000));
  const { epoch } = await headOf(restored);
  for (const seq of [1, backedUp.seq]) {
    const resumeAt = { epoch, seq };
    expect(await restored.log.read(thread, { ...backedUp, seq })).toMatchObject({ kind: "gap", resumeAt });
    const page = await restored.log.read(thread, resumeAt);
    expect(page.kind === "entries" && textsOf(page.entries)).toEqual(["a", "b", "c", "other d"].slice(seq));
  }
});

it("R19: it is renewed once, and keeps its own id for what is kept outside of it", async () => {
  const restored = await start(copyUrl);
  const { epoch } = await headOf(restored);
  const id = await databaseId(restored.database);
  await restored.close();
  const again = await start(copyUrl);
  expect((await headOf(again)).epoch).toBe(epoch);
  expect(await databaseId(again.database)).toBe(id);
  const original = await start(home.url);
  expect((await headOf(original)).epoch).toBe(lost.epoch);
  expect(await databaseId(original.database)).not.toBe(id);
});

it("R19: beside an instance that may have written since the restore, no position of before is good", async () => {
  const restored = await start(copyUrl);
  expect(await hasInstances(restored.database.pool)).toBe(true);
  const before = await headOf(restored);
  const client = await restored.database.pool.connect();
  await renewEpochs(client, "throughline").finally(() => client.release());
  expect(await restored.log.read(thread, before)).not.toHaveProperty("resumeAt");
  expect(await restored.log.read(thread, backedUp)).not.toHaveProperty("resumeAt");
});

it("R19: a thread that was deleted after the restore continues nothing", async () => {
  const restored = await start(copyUrl);
  await restored.log.deleteThread(thread);
  expect(await restored.log.read(thread, backedUp)).toEqual({ kind: "deleted" });
  await restored.log.open(thread, fenceOf(thread, 3_000_000));
  await restored.log.append(thread, notes(thread, "anew", "anew", "anew"), fenceOf(thread, 3_000_000));
  expect(await restored.log.read(thread, backedUp)).not.toHaveProperty("resumeAt");
});
