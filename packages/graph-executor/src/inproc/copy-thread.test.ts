import { randomUUID } from "node:crypto";
import { Annotation, DeltaChannel, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Checkpointer,
  createMemoryCheckpointer,
  createPostgresCheckpointer,
} from "../checkpoints/checkpointer.js";

import { type PostgresFixture, startPostgresFixture } from "../persistence/postgres-fixture.js";
import { copyThread } from "./thread-writes.js";

let postgres: PostgresFixture;
beforeAll(async () => {
  postgres = await startPostgresFixture();
});
afterAll(() => postgres.stop());

function append(held: readonly string[], updates: readonly (readonly string[])[]): string[] {
  return [...held, ...updates.flat()];
}

describe.each([
  ["memory", () => createMemoryCheckpointer()],
  ["PostgreSQL", () => createPostgresCheckpointer({ connectionString: postgres.url })],
])("A copy of a thread kept in %s", (_, checkpointerOf) => {
  let checkpointer: Checkpointer;
  beforeAll(async () => {
    checkpointer = checkpointerOf();
    await checkpointer.setup();
  });
  afterAll(() => checkpointer.close());

  it.each([100, 4])("has all of a delta channel with a snapshot every %i updates", async (frequency) => {
    const { saver } = checkpointer;
    const State = Annotation.Root({
      words: () => new DeltaChannel<string[], string[]>(append, { snapshotFrequency: frequency }),
    });
    const graph = new StateGraph(State)
      .addNode("echo", ({ words }) => ({ words: [`${words.length}`] }))
      .addEdge(START, "echo")
      .addEdge("echo", END)
      .compile({ checkpointer: saver });
    const from = randomUUID();
    const configOf = (thread_id: string) => ({ configurable: { thread_id } });
    const said: string[] = [];
    const ends: { readonly checkpointId: string; readonly words: readonly string[] }[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      await graph.invoke({ words: [`turn ${turn}`] }, configOf(from));
      said.push(`turn ${turn}`, `${said.length + 1}`);
      const { config } = await graph.getState(configOf(from));
      ends.push({ checkpointId: String(config.configurable?.checkpoint_id), words: [...said] });
    }
    for (const { checkpointId, words } of ends) {
      const to = randomUUID();
      await copyThread({ saver, from, checkpointId, to, target: saver, runId: undefined });
      expect((await graph.getState(configOf(to))).values.words).toEqual(words);
      const next = await graph.invoke({ words: ["on"] }, configOf(to));
      expect(next.words).toEqual([...words, "on", `${words.length + 1}`]);
    }
    expect((await graph.getState(configOf(from))).values.words).toEqual(said);
  });

  it("reads no checkpoint of a subgraph but those below the one that is copied", async () => {
    const { saver } = checkpointer;
    const State = Annotation.Root({ count: Annotation<number>() });
    const inner = new StateGraph(State)
      .addNode("add", ({ count }) => {
        if (count === 19) interrupt("Go on?");
        return { count: count + 1 };
      })
      .addEdge(START, "add")
      .compile();
    const graph = new StateGraph(State)
      .addNode("inner", inner)
      .addEdge(START, "inner")
      .compile({ checkpointer: saver });
    const from = randomUUID();
    const config = { configurable: { thread_id: from } };
    for (let turn = 0; turn < 20; turn += 1) await graph.invoke({ count: turn }, config);
    const checkpointId = String((await graph.getState(config)).config.configurable?.checkpoint_id);
    let listed = 0;
    const counting = new Proxy(saver, {
      get(target, key) {
        if (key !== "list") return Reflect.get(target, key, target);
        return async function* (...asked: Parameters<typeof target.list>) {
          for await (const tuple of target.list(...asked)) {
            listed += 1;
            yield tuple;
          }
        };
      },
    });
    const to = randomUUID();
    await copyThread({ saver: counting, from, checkpointId, to, target: saver, runId: undefined });
    expect((await graph.getState({ configurable: { thread_id: to } })).values).toEqual({ count: 19 });
    expect(listed).toBeLessThan(10);
  });
});
