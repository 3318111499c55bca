import { fileURLToPath } from "node:url";
import type { Fence } from "@throughline/ai-core";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BEHAVIOUR_PROJECT } from "../behaviour/executor-behaviour.js";
import { openThread } from "../behaviour/thread-session.js";
import { createPostgresCheckpointer } from "../checkpoints/checkpointer.js";
import { loadProjectGraphs } from "../graphs/project-graphs.js";
import { heldQuery, neverAsked, putRun, setUpRuns } from "../persistence/held-runs-fixture.js";
import { type PostgresFixture, startPostgresFixture } from "../persistence/postgres-fixture.js";
import type { GraphProvider } from "../provider.js";
import { createInProcProvider } from "./provider.js";

const graphs = await loadProjectGraphs(fileURLToPath(BEHAVIOUR_PROJECT));
const fence: Fence = { threadId: "any", runId: "run-1", token: 1n };

/** Says of each statement what it does. */
class CountingPool extends pg.Pool {
  statements: string[] = [];

  constructor(config: pg.PoolConfig) {
    super(config);
    const query = this.query;
    Reflect.set(this, "query", (...given: readonly unknown[]): unknown => {
      const text = typeof given[0] === "string" ? given[0] : String(Object(given[0]).text);
      const table = /insert into "\w+"\.(checkpoints|checkpoint_writes)/.exec(text)?.[1];
      this.statements.push(table ?? (/^\s*select/.test(text) ? "read" : text));
      return Reflect.apply(query, this, given);
    });
  }
}

describe("What a run costs its database", () => {
  let postgres: PostgresFixture;
  let pool: CountingPool;
  let provider: GraphProvider;
  beforeAll(async () => {
    postgres = await startPostgresFixture();
    pool = new CountingPool({ connectionString: postgres.url, max: 4 });
    const checkpointer = createPostgresCheckpointer({ pool });
    await checkpointer.setup();
    await setUpRuns(pool);
    await putRun(pool, fence);
    const lease = { ...neverAsked, heldQuery };
    provider = createInProcProvider({ graphs, checkpointer: checkpointer.saver, lease });
  });
  afterAll(async () => {
    await pool.end();
    await postgres.stop();
  });

  async function statementsOf(work: () => Promise<unknown>): Promise<readonly string[]> {
    pool.statements = [];
    await work();
    return pool.statements;
  }

  it("is a statement for each write, fence included, and one reading at each end", async () => {
    const session = openThread(provider, "notebook");
    const oneNode = [
      "read",
      // The input, then the start of the graph and its one node with what each of them wrote.
      "checkpoints",
      "checkpoint_writes",
      "checkpoints",
      "checkpoint_writes",
      "checkpoints",
      "read",
    ];
    expect(await statementsOf(() => session.say("Go", { fence }))).toEqual(oneNode);
    expect(await statementsOf(() => session.say("Again", { fence }))).toEqual(oneNode);
  });

  it("is one statement for the state of a thread where nothing is open, and one more for a question", async () => {
    const idle = openThread(provider, "notebook");
    await idle.say("Go", { fence });
    expect(await statementsOf(() => provider.getState(idle.thread))).toEqual(["read"]);
    const asking = openThread(provider, "asker");
    await asking.say("one", { fence });
    expect(await statementsOf(() => provider.getState(asking.thread))).toEqual(["read", "read"]);
  });
});
