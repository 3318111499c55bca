import { type GraphCheckpoint, systemClock } from "@throughline/ai-core";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { openServiceScene } from "../testing/service-scene.js";
import { openTestPostgres, type TestPostgres } from "../testing/test-postgres.js";
import { createMessageBackfillStore, startMessageBackfill } from "./message-backfill.js";
import type { IndexChange } from "./message-index.js";

const PATIENT = { timeout: 10_000 };
const SCHEMA = "throughline";
const CHECKPOINT: GraphCheckpoint = {
  checkpointId: "c",
  state: {},
  messages: [{ id: "m", role: "user", content: "wombat" }],
  next: [],
  interrupts: [],
};

describe("What was said before messages were indexed", () => {
  let postgres: TestPostgres;
  let pool: pg.Pool;
  beforeAll(async () => {
    postgres = await openTestPostgres();
    pool = new pg.Pool({ connectionString: postgres.url, max: 2 });
    pool.on("error", () => {});
  });
  afterAll(async () => {
    await pool.end();
    await postgres.close();
  });

  async function open() {
    const scene = await openServiceScene({ store: { kind: "postgres", databaseUrl: postgres.url } });
    let closed: Promise<void> | undefined;
    const close = () => (closed ??= scene.close());
    onTestFinished(close);
    const find = async (search: string) => {
      const found = await scene.service.threads.search({ account: "acme" }, { search, limit: 10 });
      return found.map(({ listing }) => listing.threadName);
    };
    return { ...scene, find, close };
  }

  /** As a database of a version that had no index. */
  async function loseIndex(): Promise<void> {
    await pool.query(`truncate ${SCHEMA}.said`);
    await pool.query(
      `update ${SCHEMA}.said_backfill set account = '', subject = '', thread_id = '', claimed_until = null,
         created_before = clock_timestamp(), is_done = false`,
    );
  }

  it("is found after the next start, and is no newer than its thread", async () => {
    const first = await open();
    const threads = [first.thread("chat"), first.thread("chat"), first.thread("chat")];
    for (const thread of threads) await first.run(thread, "Is the numbat awake?");
    await vi.waitFor(async () => expect(await first.find("numbat")).toHaveLength(3), PATIENT);
    await first.close();
    await loseIndex();
    const second = await open();
    await vi.waitFor(async () => {
      expect((await second.find("numbat")).sort()).toEqual(
        threads.map(({ threadName }) => threadName).sort(),
      );
    }, PATIENT);
    const { rows } = await pool.query(
      `select from ${SCHEMA}.said join ${SCHEMA}.thread_listings using (account, subject, thread_id)
       where said_at > last_activity_at`,
    );
    expect(rows).toEqual([]);
    expect(second.failures).toEqual([]);
  });

  it("is read some threads at a time by one instance, goes on after one that can't be read, and is done once", async () => {
    await loseIndex();
    const store = createMessageBackfillStore({ pool, schema: SCHEMA });
    const put: (readonly IndexChange[])[] = [];
    const failed = vi.fn();
    let read = 0;
    const backfill = () =>
      startMessageBackfill({
        store,
        state: {
          async getState() {
            read += 1;
            if (read === 2) throw new Error("The graph is gone.");
            return CHECKPOINT;
          },
        },
        index: { put: async (changes) => void put.push(changes) },
        clock: systemClock,
        random: () => 0,
        observer: { failed },
        batch: 2,
        pauseMs: 1,
      });
    const claimed = await store.next(1);
    expect(claimed).toHaveLength(1);
    // Another instance has it.
    expect(await store.next(1)).toBeUndefined();
    await pool.query(`update ${SCHEMA}.said_backfill set claimed_until = null`);
    const running = backfill();
    onTestFinished(() => running.close());
    await vi.waitFor(async () => {
      const { rows } = await pool.query(`select is_done from ${SCHEMA}.said_backfill`);
      expect(rows).toEqual([{ is_done: true }]);
    }, PATIENT);
    expect(put.map((changes) => changes.length)).toEqual([1, 1, 0]);
    expect(failed).toHaveBeenCalledTimes(1);
    expect(await store.next(2)).toEqual([]);
  });
});
