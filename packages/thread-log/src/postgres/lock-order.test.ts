import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, describe, it } from "vitest";
import { runEnd } from "../conformance/log-scene.js";
import {
  leased,
  type RegistryFixture,
  type RegistryScene,
  withRegistryScene,
} from "../conformance/registry-scene.js";
import { encodeEnvelope } from "../log/entries.js";
import type { LeasedRun } from "../registry/run-registry.js";
import { openPostgresRegistryFixture } from "../testing/postgres-registry-fixture.js";
import { sessionsWaiting } from "../testing/sessions-waiting.js";
import { openTestDatabase, type TestDatabase } from "../testing/test-database.js";
import { openTestPool } from "../testing/test-pool.js";
import { renewEpochs } from "./connection/restore.js";
import { inTransaction } from "./connection/transaction.js";
import { openPostgres } from "./database.js";
import { finishRuns } from "./registry/finish.js";

const lease = { owner: "here", leaseMs: 60_000 };

/** Two of an account, whose ids come in this order; every other order is the opposite. */
interface Pair {
  readonly first: LeasedRun;
  readonly second: LeasedRun;
}

/** All lock in order of the ids, so that two sessions never wait for each other. */
describe("A statement that locks several rows and waits for the first of them", () => {
  let server: TestDatabase;
  let pool: pg.Pool;
  /** Holds locks. */
  let outside: pg.Client;
  let fixture: RegistryFixture;
  beforeAll(async () => {
    server = await openTestDatabase();
    fixture = await openPostgresRegistryFixture({ openDatabase: async () => server });
    pool = openTestPool(server.url, 2);
    outside = new pg.Client({ connectionString: server.url });
    await outside.connect();
  });
  afterAll(async () => {
    await outside?.end();
    await pool?.end();
    await fixture?.close();
  });

  async function pairOf({ registry, thread: { account }, request }: RegistryScene): Promise<Pair> {
    const start = async (run: string, thread: string) => {
      const asked = { runId: `${run}-${randomUUID()}`, thread: { account, threadId: thread } };
      return leased(await registry.start(request(asked)));
    };
    const first = await start("a", "z");
    const second = await start("b", "y");
    for (const table of ["threads", "runs"]) {
      // Moves it behind the other in the table.
      await pool.query(
        `update throughline.${table} set thread_id = thread_id where thread_id = 'z' and account = $1`,
        [account],
      );
    }
    return { first, second };
  }

  async function lock(table: "threads" | "runs", { run }: LeasedRun): Promise<void> {
    const row = table === "runs" ? "run_id = $3" : "$3::text is not null";
    await outside.query(
      `select 1 from throughline.${table} where account = $1 and thread_id = $2 and ${row} for update nowait`,
      [run.thread.account, run.thread.threadId, run.runId],
    );
  }

  async function expectInOrder(
    table: "threads" | "runs",
    { first, second }: Pair,
    work: () => Promise<unknown>,
  ): Promise<void> {
    await outside.query("begin");
    let working: Promise<unknown> | undefined;
    try {
      await lock(table, first);
      working = work();
      await sessionsWaiting(pool, 1);
      await lock(table, second);
    } finally {
      await outside.query("rollback");
      await working;
    }
  }

  const scene = (run: (scene: RegistryScene) => Promise<void>) => () => withRegistryScene(fixture, run);

  it(
    "holds no later run: a heartbeat",
    scene(async (each) => {
      const pair = await pairOf(each);
      const fences = [pair.second.fence, pair.first.fence];
      await expectInOrder("runs", pair, () => each.registry.heartbeat(fences, lease));
    }),
  );

  it(
    "holds no later run: a commit in which several end",
    scene(async (each) => {
      const pair = await pairOf(each);
      const ends = [pair.second, pair.first].map(({ run, fence }) => ({
        thread: run.thread,
        token: fence.token,
        appendId: "order-of-locks.000000001",
        entries: [encodeEnvelope(runEnd(run.thread, run.runId))],
        finish: { runId: run.runId, status: "success" } as const,
      }));
      await expectInOrder("runs", pair, () => each.instance.store.commit(ends));
    }),
  );

  it(
    "holds no later run: several that end without a log",
    scene(async (each) => {
      const pair = await pairOf(each);
      const finishes = [pair.second, pair.first].map(({ fence }) => ({
        ...fence,
        status: "success" as const,
      }));
      const database = await openPostgres({ connection: server.url });
      try {
        await expectInOrder("runs", pair, () => finishRuns(database, finishes));
      } finally {
        await database.close();
      }
    }),
  );

  it(
    "holds no later run: a deletion of runs",
    scene(async (each) => {
      const pair = await pairOf(each);
      await expectInOrder("runs", pair, () => each.registry.deleteAccount(each.thread.account));
    }),
  );

  it(
    "holds no later thread: a deletion of runs",
    scene(async (each) => {
      const pair = await pairOf(each);
      await expectInOrder("threads", pair, () => each.registry.deleteAccount(each.thread.account));
    }),
  );

  it(
    "holds no later thread: a deletion of threads",
    scene(async (each) => {
      const pair = await pairOf(each);
      await expectInOrder("threads", pair, () =>
        each.instance.store.deleteAccount(each.thread.account, undefined),
      );
    }),
  );

  it(
    "holds no later thread: a renewal of every epoch",
    scene(async (each) => {
      const pair = await pairOf(each);
      await expectInOrder("threads", pair, () =>
        inTransaction(pool, (client) => renewEpochs(client, "throughline")),
      );
    }),
  );
});
