import { openPostgres, type PostgresDatabase } from "@throughline/thread-log";
import { afterAll, beforeAll, expect, it } from "vitest";
import { addOldCheckpoints, countRows } from "../../retention/testing/old-checkpoints.js";
import { recordedTerminal } from "../../testing/recorded-terminal.js";
import { openServiceScene, type ServiceScene } from "../../testing/service-scene.js";
import { openTestPostgres, type TestPostgres } from "../../testing/test-postgres.js";
import { runCli } from "../run-cli.js";

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
