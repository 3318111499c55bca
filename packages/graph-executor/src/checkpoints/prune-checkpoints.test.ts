import { randomUUID } from "node:crypto";
import { Annotation, Command, DeltaChannel, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PostgresFixture, startPostgresFixture } from "../persistence/postgres-fixture.js";
import { type Checkpointer, createPostgresCheckpointer } from "./checkpointer.js";
import { prunableThreads, pruneCheckpoints } from "./retention.js";

let postgres: PostgresFixture;
let pool: pg.Pool;
let checkpointer: Checkpointer;
beforeAll(async () => {
  postgres = await startPostgresFixture();
  pool = new pg.Pool({ connectionString: postgres.url, max: 2 });
  checkpointer = createPostgresCheckpointer({ connectionString: postgres.url });
  await checkpointer.setup();
});
afterAll(async () => {
  await checkpointer.close();
  await pool.end();
  await postgres.stop();
});

async function prune(threadId: string, keepNewest: number): Promise<number> {
  const request = { schema: "langgraph", threadId, retention: { keepNewest }, now: Date.now() };
  const { deleted, isDone } = await pruneCheckpoints(pool, request, 1_000);
  expect(isDone).toBe(true);
  return deleted.checkpoints;
}

function inThread() {
  const thread_id = randomUUID();
  return { thread_id, config: { configurable: { thread_id } } };
}

describe("Pruned to its newest checkpoint", () => {
  it("a graph with a delta channel still has all its value", async () => {
    const append = (held: readonly string[], updates: readonly (readonly string[])[]) => [
      ...held,
      ...updates.flat(),
    ];
    const State = Annotation.Root({
      words: () => new DeltaChannel<string[], string[]>(append, { snapshotFrequency: 4 }),
    });
    const graph = new StateGraph(State)
      .addNode("echo", ({ words }) => ({ words: [`${words.length}`] }))
      .addEdge(START, "echo")
      .addEdge("echo", END)
      .compile({ checkpointer: checkpointer.saver });
    const { thread_id, config } = inThread();
    const said: string[] = [];
    for (let turn = 0; turn < 9; turn += 1) {
      await graph.invoke({ words: [`turn ${turn}`] }, config);
      said.push(`turn ${turn}`, `${said.length + 1}`);
      await prune(thread_id, 1);
      expect((await graph.getState(config)).values.words).toEqual(said);
    }
    // Of 27 checkpoints those since the last snapshot of the channel are left.
    expect(await prunableThreads(pool, "langgraph", [thread_id], { keepNewest: 12 })).toEqual([]);
  });

  it("a graph goes on within its subgraph's question, and one that remembers still does", async () => {
    const Inner = Annotation.Root({
      notes: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
      answer: Annotation<string>(),
    });
    const asker = new StateGraph(Inner)
      .addNode("prepare", () => ({ notes: ["prepared"] }))
      .addNode("ask", () => ({ answer: String(interrupt("Which one?")) }))
      .addEdge(START, "prepare")
      .addEdge("prepare", "ask")
      .addEdge("ask", END)
      .compile();
    const rememberer = new StateGraph(Inner)
      .addNode("note", ({ notes }) => ({ notes: [`note ${notes.length}`] }))
      .addEdge(START, "note")
      .addEdge("note", END)
      .compile({ checkpointer: true });
    const Outer = Annotation.Root({
      answer: Annotation<string>(),
      seen: Annotation<number>(),
    });
    const graph = new StateGraph(Outer)
      .addNode("remember", async (_, config) => ({
        seen: (await rememberer.invoke({}, config)).notes.length,
      }))
      .addNode("asker", async (_, config) => ({ answer: (await asker.invoke({}, config)).answer }))
      .addEdge(START, "remember")
      .addEdge("remember", "asker")
      .addEdge("asker", END)
      .compile({ checkpointer: checkpointer.saver });
    const { thread_id, config } = inThread();
    for (let turn = 1; turn <= 3; turn += 1) {
      await graph.invoke({ answer: "" }, config);
      if (turn > 1) expect(await prune(thread_id, 1)).toBeGreaterThan(0);
      expect((await graph.getState(config)).tasks[0]?.interrupts).toHaveLength(1);
      const done = await graph.invoke(new Command({ resume: `choice ${turn}` }), config);
      expect(done).toMatchObject({ answer: `choice ${turn}`, seen: turn });
    }
    const { rows } = await pool.query(
      "select distinct checkpoint_ns from langgraph.checkpoints where thread_id = $1 and checkpoint_ns like 'asker:%'",
      [thread_id],
    );
    await prune(thread_id, 1);
    expect(rows.length).toBeGreaterThan(0);
    const left = await pool.query(
      "select 1 from langgraph.checkpoints where thread_id = $1 and checkpoint_ns like 'asker:%'",
      [thread_id],
    );
    expect(left.rowCount).toBe(0);
  });
});
