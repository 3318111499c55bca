import { fileURLToPath } from "node:url";
import { AIMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import {
  type BaseCheckpointSaver,
  InMemoryStore,
  MemorySaver,
  type Operation,
  type OperationResults,
} from "@langchain/langgraph-checkpoint";
import { createSimulatedClock, StoreOutage, ThroughlineError } from "@throughline/ai-core";
import pg from "pg";
import { afterEach, describe, expect, it } from "vitest";
import { BEHAVIOUR_PROJECT } from "../behaviour/executor-behaviour.js";
import { openThread } from "../behaviour/thread-session.js";
import { createPostgresCheckpointer } from "../checkpoints/checkpointer.js";
import { ForwardingSaver } from "../checkpoints/run-saver.js";
import { describeLoadedGraph, graphRegistry } from "../graphs/graph.js";
import { loadProjectGraphs } from "../graphs/project-graphs.js";
import { startPostgresFixture } from "../persistence/postgres-fixture.js";
import { createPostgresGraphStore } from "../store/graph-store.js";
import { createInProcProvider } from "./provider.js";

const graphs = await loadProjectGraphs(fileURLToPath(BEHAVIOUR_PROJECT));

const unhandled: unknown[] = [];
process.on("unhandledRejection", (error) => unhandled.push(error));
afterEach(() => expect(unhandled).toEqual([]));

const AWAY = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });

/** A saver whose store can go away: before an operation, or after it so that only the answer is lost. */
class FlakySaver extends ForwardingSaver {
  operations = 0;
  written = 0;
  awayFrom = Number.POSITIVE_INFINITY;
  losesAnswers = false;

  constructor(inner: BaseCheckpointSaver = new MemorySaver()) {
    super(inner);
  }

  override getTuple(...given: Parameters<ForwardingSaver["getTuple"]>) {
    return this.#perform(() => super.getTuple(...given));
  }

  override put(...given: Parameters<ForwardingSaver["put"]>) {
    this.written += 1;
    return this.#perform(() => super.put(...given));
  }

  override putWrites(...given: Parameters<ForwardingSaver["putWrites"]>) {
    this.written += 1;
    return this.#perform(() => super.putWrites(...given));
  }

  async #perform<T>(operation: () => Promise<T>): Promise<T> {
    const isAway = this.operations++ >= this.awayFrom;
    if (!isAway) return operation();
    if (this.losesAnswers) await operation();
    throw AWAY;
  }
}

/** A provider over a flaky saver, and a clock that runs as long as something is waited for. */
function scene(saver = new FlakySaver()) {
  const clock = createSimulatedClock();
  const provider = createInProcProvider({ graphs, checkpointer: saver, clock });

  /** Passes time in small steps, and does what is due at some moment. */
  async function pass<T>(done: Promise<T>, at = Number.POSITIVE_INFINITY, due = () => {}): Promise<T> {
    let isOver = false;
    let isDone = false;
    const over = () => {
      isOver = true;
    };
    done.then(over, over);
    while (!isOver) {
      if (clock.pending() > 0) clock.advance(clock.now() < 10_000 ? 100 : 10_000);
      if (!isDone && clock.now() >= at) {
        isDone = true;
        due();
      }
      await new Promise(setImmediate);
    }
    return done;
  }
  return { clock, provider, saver, pass };
}

const textsOf = (messages: readonly { readonly content: unknown }[] = []) =>
  messages.map(({ content }) => content).sort();

describe("A run whose checkpoints can't be stored for a while", () => {
  it.each([
    ["before a statement", false],
    ["after it, so that only its answer is lost", true],
  ])("pauses and ends as any other when the store goes away at any moment, %s", async (_, losesAnswers) => {
    const calm = await openThread(scene().provider, "parallel").say("Go");
    let hasPaused = 0;
    for (let awayFrom = 0; awayFrom < 20; awayFrom++) {
      const { clock, provider, saver, pass } = scene();
      Object.assign(saver, { awayFrom, losesAnswers });
      const running = openThread(provider, "parallel").say("Go");
      const { final } = await pass(running, 700, () => {
        saver.awayFrom = Number.POSITIVE_INFINITY;
      });
      expect(final).toMatchObject({ ok: true, status: "success" });
      expect(textsOf(final.messages)).toEqual(textsOf(calm.final.messages));
      if (clock.now() >= 700) hasPaused += 1;
    }
    expect(hasPaused).toBeGreaterThan(10);
  });

  it("waits an hour if it must", async () => {
    const { clock, provider, saver, pass } = scene();
    saver.awayFrom = 3;
    const { final } = await pass(openThread(provider, "notebook").say("Go"), 3_600_000, () => {
      saver.awayFrom = Number.POSITIVE_INFINITY;
    });
    expect(final.status).toBe("success");
    expect(clock.now()).toBeGreaterThanOrEqual(3_600_000);
  });

  it.each([
    ["stopped", undefined, { status: "cancelled", error: { code: "cancelled" } }],
    [
      "left",
      new ThroughlineError("conflict", "This instance no longer drives the run."),
      { status: "error", error: { code: "conflict" } },
    ],
  ])("writes nothing more and ends at once when it is %s meanwhile", async (_, reason, outcome) => {
    for (let awayFrom = 0; awayFrom < 12; awayFrom++) {
      const { provider, saver, pass } = scene();
      saver.awayFrom = awayFrom;
      const abort = new AbortController();
      let writtenBefore = Number.NaN;
      const running = openThread(provider, "parallel").say("Go", { signal: abort.signal });
      const { final } = await pass(running, 5_000, () => {
        abort.abort(reason);
        writtenBefore = saver.written;
        saver.awayFrom = Number.POSITIVE_INFINITY;
      });
      expect(final).toMatchObject({ ok: false, interrupts: [], ...outcome });
      expect(saver.written).toBe(writtenBefore);
    }
  });
});

describe("The final word of a run", () => {
  it("is the outage where the stream ended well and its checkpoint can't be read", async () => {
    const calm = new FlakySaver();
    await openThread(scene(calm).provider, "notebook").say("Go");
    const { clock, provider, saver, pass } = scene();
    saver.awayFrom = calm.operations - 1;
    const { final } = await pass(openThread(provider, "notebook").say("Go"));
    expect(final).toEqual({ ok: false, status: "error", error: expect.any(StoreOutage), interrupts: [] });
    expect(clock.now()).toBeGreaterThan(50_000);
    expect(clock.now()).toBeLessThan(70_000);
  });

  it("keeps a failure of the graph's own", async () => {
    const calm = new FlakySaver();
    await openThread(scene(calm).provider, "faulty").say("node");
    const { provider, saver, pass } = scene();
    saver.awayFrom = calm.operations - 1;
    const { final } = await pass(openThread(provider, "faulty").say("node"));
    expect(final).toMatchObject({ status: "error", error: { code: "run_failed" } });
  });
});

describe("What is asked of a thread outside a run", () => {
  it("waits for the store, and is refused as an outage when that takes too long", async () => {
    const { provider, saver, pass } = scene();
    const session = openThread(provider, "notebook");
    await session.say("Go");
    const away = () => {
      saver.awayFrom = 0;
    };
    const back = () => {
      saver.awayFrom = Number.POSITIVE_INFINITY;
    };
    away();
    expect(await pass(provider.getState(session.thread), 3_000, back)).toMatchObject({ next: [] });
    const asked: readonly (() => Promise<unknown>)[] = [
      () => provider.getState(session.thread),
      () => provider.updateState(session.thread, { state: { topic: "moon" } }),
      () => provider.committedMessages(session.thread, [{ messageId: "m", ns: ["note:1"], step: 1 }]),
    ];
    for (const ask of asked) {
      away();
      await expect(pass(ask())).rejects.toBeInstanceOf(StoreOutage);
      back();
    }
  });

  it("writes a state once though the answer was lost", async () => {
    const { provider, saver, pass } = scene();
    const session = openThread(provider, "notebook");
    await session.say("Go");
    Object.assign(saver, { awayFrom: saver.operations + 1, losesAnswers: true });
    const since = await pass(
      provider.updateState(session.thread, { state: { topic: "moon" } }),
      2_000,
      () => {
        saver.awayFrom = Number.POSITIVE_INFINITY;
      },
    );
    const history = await provider.history(session.thread, { limit: 10 });
    expect(history.map(({ checkpointId }) => checkpointId).indexOf(since)).toBe(0);
    expect(history.filter(({ source }) => source === "update")).toHaveLength(1);
  });
});

describe("A node that uses the store while the database is away", () => {
  class FlakyStore extends InMemoryStore {
    failures = 0;
    override async batch<Op extends readonly Operation[]>(operations: Op): Promise<OperationResults<Op>> {
      if (this.failures-- > 0) throw AWAY;
      return super.batch(operations);
    }
  }

  it("waits for it, in reading and in writing", async () => {
    const store = new FlakyStore();
    store.failures = 5;
    const keeper = new StateGraph(MessagesAnnotation)
      .addNode("keep", async (_, runtime) => {
        await runtime.store?.put(["notes"], "tea", { likes: true });
        store.failures = 5;
        const found = await runtime.store?.get(["notes"], "tea");
        return { messages: [new AIMessage(JSON.stringify(found?.value))] };
      })
      .addEdge(START, "keep")
      .compile();
    const provider = createInProcProvider({
      graphs: graphRegistry([
        { descriptor: describeLoadedGraph({ graphName: "keeper" }, keeper), create: () => keeper },
      ]),
      checkpointer: new MemorySaver(),
      store,
    });
    const { final } = await openThread(provider, "keeper").say("Go");
    expect(final).toMatchObject({ status: "success" });
    expect(final.messages?.at(-1)?.content).toBe('{"likes":true}');
  });
});

describe("Runs on a PostgreSQL whose connections are cut again and again", () => {
  it("end as any other", async () => {
    const postgres = await startPostgresFixture();
    const checkpointer = createPostgresCheckpointer({ connectionString: postgres.url });
    const graphStore = createPostgresGraphStore({ connectionString: postgres.url });
    await checkpointer.setup();
    await graphStore.setup();
    const provider = createInProcProvider({
      graphs,
      checkpointer: checkpointer.saver,
      store: graphStore.store,
    });
    const axe = new pg.Client({ connectionString: postgres.url });
    await axe.connect();
    let isOver = false;
    const cutting = (async () => {
      let cut = 0;
      while (!isOver) {
        const { rowCount } = await axe.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'throughline%'",
        );
        cut += rowCount ?? 0;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      return cut;
    })();
    const runs = await Promise.all(
      Array.from({ length: 12 }, () => openThread(provider, "parallel").say("Go")),
    );
    isOver = true;
    expect(await cutting).toBeGreaterThan(5);
    for (const { final } of runs) {
      expect(final.status === "success" || final.error instanceof StoreOutage).toBe(true);
      if (final.status === "success") expect(final.messages).toHaveLength(6);
    }
    expect(runs.filter(({ final }) => final.status === "success").length).toBeGreaterThan(8);
    await Promise.all([axe.end(), checkpointer.close(), graphStore.close()]);
    await postgres.stop();
  });
});
