import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openServiceScene, type ServiceScene } from "../testing/service-scene.js";
import { openTestPostgres, type TestPostgres } from "../testing/test-postgres.js";

/** Statements of this process, in order; those that only set up a connection are left out. */
const asked: string[] = [];
const realQuery = pg.Client.prototype.query;

/** A statement as a word: what it is for. */
function kindOf(
  text: string,
): "checkpoint write" | "log commit" | "notification" | "search" | "clock" | "bookkeeping" {
  if (/insert into\s+"?langgraph"?\.checkpoint/i.test(text)) return "checkpoint write";
  if (/insert into \w+\.log_entries/.test(text)) return "log commit";
  // On a connection of its own, and nothing waits for it.
  if (/^select pg_notify/.test(text)) return "notification";
  // Behind the run, and nothing waits for it; many runs share one.
  if (/insert into \w+\.said/.test(text)) return "search";
  // At intervals, whatever runs.
  if (/^select \(extract\(epoch from clock_timestamp\(\)\)/.test(text)) return "clock";
  return "bookkeeping";
}

describe("A run of one node with one subscriber", () => {
  let postgres: TestPostgres;
  let scene: ServiceScene;
  beforeAll(async () => {
    // Before the first connection is made: some clients hold on to the method they began with.
    vi.spyOn(pg.Client.prototype, "query").mockImplementation(function (this: pg.Client, ...args: unknown[]) {
      const [query] = args;
      const text = typeof query === "string" ? query : (query as pg.QueryConfig | undefined)?.text;
      if (text !== undefined && !/^set /.test(text)) asked.push(text);
      return Reflect.apply(realQuery, this, args);
    });
    postgres = await openTestPostgres();
    scene = await openServiceScene({
      store: { kind: "postgres", databaseUrl: postgres.url },
      // What the reaper asks at intervals is no run's.
      reapEveryMs: 600_000,
    });
    await scene.run(scene.thread("poet"), "Warm up");
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await scene?.close();
    await postgres?.close();
  });

  /**
   * What a run of `thread()` asks. Statements of timers (renewals, polls for a missed notification) may fall between a run's
   * own, the more so on a slow machine, and only ever add: of three runs, the one with the fewest shows what a run costs.
   */
  async function counted(thread: () => ReturnType<ServiceScene["thread"]>) {
    const runs = [];
    for (const about of ["rain", "snow", "wind"]) {
      asked.length = 0;
      const run = await scene.run(thread(), `Write about ${about}`);
      expect(run.types().at(-1)).toBe("RUN_FINISHED");
      const kinds = asked.map(kindOf);
      for (const kind of ["checkpoint write", "log commit"]) expect(kinds).toContain(kind);
      const graphStarts = kinds.indexOf("checkpoint write");
      // The run's beginning is written to the log while its graph is opened: that is one of its log commits.
      const before = asked.filter((_, index) => index < graphStarts && kinds[index] === "bookkeeping");
      const bookkeeping = asked.filter((_, index) => kinds[index] === "bookkeeping");
      runs.push({ before, bookkeeping });
    }
    const fewest = (lists: readonly string[][]) => lists.reduce((a, b) => (b.length < a.length ? b : a));
    return {
      before: fewest(runs.map((run) => run.before)),
      bookkeeping: fewest(runs.map((run) => run.bookkeeping)),
    };
  }

  it("asks the database four times before its graph starts, and eight times in all beside its own writes", async () => {
    const { before, bookkeeping } = await counted(() => scene.thread("poet"));
    expect(before.length, before.join("\n\n")).toBeLessThanOrEqual(4);
    expect(bookkeeping.length, bookkeeping.join("\n\n")).toBeLessThanOrEqual(8);
  });

  it("asks no more on a thread that has a conversation", async () => {
    const thread = scene.thread("poet");
    await scene.run(thread, "Write about fog");
    const { before, bookkeeping } = await counted(() => thread);
    expect(before.length, before.join("\n\n")).toBeLessThanOrEqual(4);
    expect(bookkeeping.length, bookkeeping.join("\n\n")).toBeLessThanOrEqual(8);
  });
});
