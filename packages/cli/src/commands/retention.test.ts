import { afterAll, beforeAll, expect, it } from "vitest";
import { addOldCheckpoints, countRows } from "../../../langgraph-server/src/testing/old-checkpoints.js";
import { openServiceScene, type ServiceScene } from "../../../langgraph-server/src/testing/service-scene.js";
import { openPostgres, type PostgresDatabase } from "../../../langgraph-server/src/testing/test-database.js";
import { openTestPostgres, type TestPostgres } from "../../../langgraph-server/src/testing/test-postgres.js";
import { runCli } from "../run-cli.js";
import { recordedTerminal } from "../testing/recorded-terminal.js";

let postgres: TestPostgres;
let database: PostgresDatabase;
let scene: ServiceScene;
beforeAll(async () => {
  postgres = await openTestPostgres();
  scene = await openServiceScene({ store: { kind: "postgres", databaseUrl: postgres.url } });
  database = await openPostgres({ connection: postgres.url });
});
afterAll(async () => {
  await scene.close();
  await database.close();
  await postgres.close();
});

async function retention(...argv: readonly string[]) {
  const terminal = recordedTerminal({ env: { LANGGRAPH_DATABASE_URL: postgres.url } });
  const code = await runCli(["retention", ...argv], { terminal });
  return { code, printed: terminal.printed() };
}

it("throughline retention says what would go, deletes it once, and has nothing left to do", async () => {
  const thread = scene.thread("poet");
  await scene.run(thread, "Write about tides");
  await addOldCheckpoints(database.pool, thread.ref.threadId, 300);
  const { checkpoints: all } = await countRows(database.pool, thread.ref.threadId);
  const gone = all - 100;

  const planned = await retention("--dry-run", "--json");
  expect(planned.code).toBe(0);
  expect(JSON.parse(planned.printed)).toMatchObject({
    dryRun: true,
    deleted: { checkpoints: gone, blobs: gone, writes: gone, entries: 0, runs: 0, threads: 0, receipts: 0 },
    bytes: { entries: 0, checkpoints: expect.any(Number) },
  });
  expect((await countRows(database.pool, thread.ref.threadId)).checkpoints).toBe(all);

  expect((await retention()).printed).toMatch(new RegExp(`^Deleted\\n(.*\\n)* +checkpoints +${gone}\\n`));
  expect((await countRows(database.pool, thread.ref.threadId)).checkpoints).toBe(100);
  const again = await retention("--retention-checkpoints", "20", "--json");
  expect(JSON.parse(again.printed)).toMatchObject({
    dryRun: false,
    deleted: { checkpoints: 80, receipts: 0 },
  });
});

it("throughline retention sweeps files that belong to no message, and counts them before", async () => {
  const thread = scene.thread("poet");
  await scene.run(thread, "Write about tides");
  const { store, limits } = scene.service.attachments;
  for (const [id, isNamed] of [
    ["named", true],
    ["unnamed", false],
  ] as const) {
    const upload = await store.begin(thread.ref, limits);
    await upload.reserve(5);
    await upload.write(Buffer.from("tides"));
    await upload.finish({ id, mimeType: "text/plain", filename: undefined, isNamed });
  }
  const orphan = await store.begin(scene.thread("poet").ref, limits);
  await orphan.reserve(5);
  await orphan.write(Buffer.from("tides"));
  await orphan.finish({ id: "orphan", mimeType: "text/plain", filename: undefined, isNamed: true });
  await database.pool.query("update throughline.attachments set created_at = now() - interval '3 hours'");

  const filesOf = async (...argv: readonly string[]) =>
    JSON.parse((await retention("--json", "--unnamed-attachment-hours", "2", ...argv)).printed).files;
  const found = { unnamed: 1, unfinished: 0, orphaned: 1, stray: 0 };
  expect(await filesOf("--dry-run")).toEqual(found);
  expect(await filesOf()).toEqual(found);
  expect(await filesOf("--dry-run")).toEqual({ unnamed: 0, unfinished: 0, orphaned: 0, stray: 0 });
  expect(await store.find(thread.ref, "named")).toBeDefined();
  expect(await store.find(thread.ref, "unnamed")).toBeUndefined();
});
