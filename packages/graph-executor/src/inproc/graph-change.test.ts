import { AIMessage } from "@langchain/core/messages";
import {
  Annotation,
  END,
  interrupt,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { type BaseCheckpointSaver, MemorySaver } from "@langchain/langgraph-checkpoint";
import type { GraphFinal } from "@throughline/ai-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openThread, type ThreadSession } from "../behaviour/thread-session.js";
import { type Checkpointer, createPostgresCheckpointer } from "../checkpoints/checkpointer.js";
import { describeLoadedGraph, graphRegistry, type RunnableGraph } from "../graphs/graph.js";

import { type PostgresFixture, startPostgresFixture } from "../persistence/postgres-fixture.js";
import type { GraphProvider } from "../provider.js";
import { createInProcProvider } from "./provider.js";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  mood: Annotation<string>,
  answers: Annotation<string[]>({ reducer: (known, more) => [...known, ...more], default: () => [] }),
});

const ask = (question: string) => () => {
  const answer = JSON.stringify(interrupt({ question }));
  return { answers: [answer], messages: [new AIMessage(answer)] };
};

function nested(inner: string) {
  return new StateGraph(State).addNode(inner, ask(inner)).addEdge(START, inner).addEdge(inner, END).compile();
}

/** Prepares, then asks in each of these nodes at once; a node that is a graph asks inside. */
function travel(
  asking: readonly string[],
  { inner = "inside", sends = false }: { readonly inner?: string; readonly sends?: boolean } = {},
): RunnableGraph {
  const graph = new StateGraph(State).addNode("prepare", () => ({ mood: "eager" })).addEdge(START, "prepare");
  const added = asking.reduce<StateGraph<typeof State.spec, typeof State.State, typeof State.Update, string>>(
    (grown, name) =>
      name === "nested" ? grown.addNode(name, nested(inner)) : grown.addNode(name, ask(name)),
    graph,
  );
  if (sends) added.addConditionalEdges("prepare", () => asking.map((name) => new Send(name, {})));
  else for (const name of asking) added.addEdge("prepare", name);
  return added.compile({ name: "travel" });
}

/** Two askers and a node that waits for both. */
function joined(last: string): RunnableGraph {
  return new StateGraph(State)
    .addNode("left", () => ({}))
    .addNode("right", () => ({}))
    .addNode(last, ask(last))
    .addEdge(START, "left")
    .addEdge(START, "right")
    .addEdge(["left", "right"], last)
    .compile({ name: "travel" });
}

function providerOf(graph: RunnableGraph | undefined, checkpointer: BaseCheckpointSaver): GraphProvider {
  const graphs = graph
    ? [{ descriptor: describeLoadedGraph({ graphName: "travel" }, graph), create: () => graph }]
    : [];
  return createInProcProvider({ graphs: graphRegistry(graphs), checkpointer });
}

const declined = ({ interrupts }: GraphFinal) =>
  Object.fromEntries(
    interrupts.map(({ interrupt_id }) => [interrupt_id, { __agui_cancelled__: true, interrupt_id }]),
  );
const answered = ({ interrupts }: GraphFinal) =>
  Object.fromEntries(interrupts.map(({ interrupt_id }) => [interrupt_id, "yes"]));
const texts = ({ messages = [] }: GraphFinal) => messages.map(({ content }) => content);

describe.each(["in memory", "in PostgreSQL"])("A thread %s whose graph has changed since", (where) => {
  let postgres: PostgresFixture | undefined;
  let checkpointer: Checkpointer | undefined;
  let saver: BaseCheckpointSaver;
  beforeAll(async () => {
    saver = new MemorySaver();
    if (where === "in memory") return;
    postgres = await startPostgresFixture();
    checkpointer = createPostgresCheckpointer({ connectionString: postgres.url });
    await checkpointer.setup();
    saver = checkpointer.saver;
  });
  afterAll(async () => {
    await checkpointer?.close();
    await postgres?.stop();
  });

  interface Changed {
    readonly asked: GraphFinal;
    readonly runId: string;
    readonly provider: GraphProvider;
    readonly session: ThreadSession;
  }

  /** A thread that one graph has left with a question, and that another one has to do with now. */
  async function changed(before: RunnableGraph, after: RunnableGraph | undefined): Promise<Changed> {
    const first = openThread(providerOf(before, saver), "travel");
    const { final: asked, runId } = await first.say("one");
    expect(asked.status).toBe("interrupted");
    const provider = providerOf(after, saver);
    return { asked, runId, provider, session: first.on(provider) };
  }

  const WAITS_IN = (node: string) =>
    `The graph "travel" no longer has the node "${node}" that this run waits in. Decline the question or send a new message.`;

  const CASES: readonly (readonly [string, () => RunnableGraph, () => RunnableGraph, string])[] = [
    ["lost the node it waits in", () => travel(["confirm"]), () => travel([]), "confirm"],
    ["renamed the node it waits in", () => travel(["confirm"]), () => travel(["approve"]), "confirm"],
    [
      "lost a node that was sent to",
      () => travel(["confirm"], { sends: true }),
      () => travel(["approve"], { sends: true }),
      "confirm",
    ],
    ["lost one of two nodes that ask", () => travel(["confirm", "pay"]), () => travel(["pay"]), "confirm"],
    ["renamed a node behind two others", () => joined("confirm"), () => joined("approve"), "confirm"],
    ["lost the subgraph it waits in", () => travel(["nested"]), () => travel(["approve"]), "nested"],
    [
      "renamed a node of the subgraph it waits in",
      () => travel(["nested"]),
      () => travel(["nested"], { inner: "within" }),
      "nested/inside",
    ],
  ];

  describe.each(CASES)("and %s", (_, before, after, node) => {
    it("still shows its messages, its state and the question", async () => {
      const { asked, provider, session } = await changed(before(), after());
      const read = await provider.getState(session.thread);
      expect(read).toMatchObject({ checkpointId: asked.checkpointId, state: asked.state });
      expect(read?.messages).toEqual(asked.messages);
      expect(read?.next).not.toEqual([]);
      const shown = read?.interrupts.map(({ interrupt_id, value }) => ({ interrupt_id, value })) ?? [];
      expect(shown).toHaveLength(asked.interrupts.length);
      for (const { interrupt_id, value } of asked.interrupts) {
        expect(shown).toContainEqual({ interrupt_id, value });
      }
    });

    it("says which node is missing when the question is answered, and the question stays", async () => {
      const { asked, provider, session } = await changed(before(), after());
      const { final } = await session.answer(answered(asked));
      expect(final).toMatchObject({ ok: false, status: "error", error: { code: "graph_changed" } });
      expect(final.error?.message).toBe(WAITS_IN(node));
      expect((await provider.getState(session.thread))?.interrupts).toHaveLength(asked.interrupts.length);
    });

    it("says so when the run that asked is recovered", async () => {
      const { runId, session } = await changed(before(), after());
      const original = { kind: "input", messages: [] } as const;
      const { final } = await session.run({ kind: "continue", original }, { runId, attempt: 1 });
      expect(final).toMatchObject({ status: "error", error: { code: "graph_changed" } });
    });

    it("is idle once the question is declined, and takes the next message", async () => {
      const { asked, provider, session } = await changed(before(), after());
      const decline = { kind: "resume", answers: declined(asked) } as const;
      const { final, runId } = await session.run(decline);
      expect(final).toMatchObject({ ok: true, status: "success", interrupts: [], state: asked.state });
      expect(await provider.getState(session.thread)).toMatchObject({ next: [], interrupts: [], runId });
      const again = await session.run({ kind: "continue", original: decline }, { runId, attempt: 1 });
      expect(again.final).toMatchObject({ status: "success", checkpointId: final.checkpointId });
      await expectNextTurn(session);
    });

    it("takes a new message without more ado", async () => {
      const { session } = await changed(before(), after());
      await expectNextTurn(session);
    });
  });

  /** A turn of the new graph, with all that the thread held, to its end or to its own question, which can be answered. */
  async function expectNextTurn(session: ThreadSession): Promise<void> {
    const { final } = await session.say("two");
    expect(final.ok).toBe(true);
    expect(texts(final).filter((text) => text === "one" || text === "two")).toEqual(["one", "two"]);
    expect(final.interrupts.every(({ node }) => node !== "confirm")).toBe(true);
    if (final.status !== "interrupted") return;
    const done = await session.answer(answered(final));
    expect(done.final).toMatchObject({
      status: "success",
      state: { answers: final.interrupts.map(() => '"yes"') },
    });
  }

  describe("and is gone", () => {
    it("still shows its messages, its state, the question and its past", async () => {
      const { asked, provider, session } = await changed(travel(["confirm"]), undefined);
      const read = await provider.getState(session.thread);
      const { interrupts } = asked;
      expect(read).toMatchObject({ state: { mood: "eager" }, next: ["confirm"], interrupts });
      expect(read?.messages).toEqual(asked.messages);
      const history = await provider.history(session.thread, { limit: 10 });
      expect(history[0]).toMatchObject({ checkpointId: asked.checkpointId, interrupts: asked.interrupts });
      expect(await provider.getState(session.thread, history[1]?.checkpointId)).toEqual(history[1]);
    });

    it("says so when the question is answered and when the run is recovered", async () => {
      const { asked, runId, session } = await changed(travel(["confirm"]), undefined);
      const original = { kind: "input", messages: [] } as const;
      const message = 'The graph "travel" no longer exists. Decline the question, or bring the graph back.';
      for (const { final } of [
        await session.answer(answered(asked)),
        await session.run({ kind: "continue", original }, { runId, attempt: 1 }),
      ]) {
        expect(final).toMatchObject({ status: "error", error: { code: "graph_changed", message } });
      }
      const never = await session.run({ kind: "continue", original }, { attempt: 1 });
      expect(never.final.error?.code).toBe("graph_changed");
    });

    it("is idle once the question is declined, and takes no message", async () => {
      const { asked, provider, session } = await changed(travel(["confirm"]), undefined);
      const { final } = await session.answer(declined(asked));
      expect(final).toMatchObject({ ok: true, status: "success", interrupts: [] });
      expect(await provider.getState(session.thread)).toMatchObject({ next: [], interrupts: [] });
      expect((await session.say("two")).final.error).toMatchObject({
        code: "not_found",
        message: 'Unknown agent "travel". Available: none.',
      });
    });
  });

  it("goes on where only a part of its state is gone", async () => {
    const Less = Annotation.Root({ ...MessagesAnnotation.spec, answers: State.spec.answers });
    const after = new StateGraph(Less)
      .addNode("confirm", ask("confirm"))
      .addEdge(START, "confirm")
      .compile({ name: "travel" });
    const { asked, session } = await changed(travel(["confirm"]), after);
    const { final } = await session.answer(answered(asked));
    expect(final).toMatchObject({ status: "success", state: { answers: ['"yes"'] } });
    expect(final.state).not.toHaveProperty("mood");
  });

  describe("so that its state can't be applied any more", () => {
    const Moods = Annotation.Root({
      ...MessagesAnnotation.spec,
      // What was a word is a map now.
      mood: Annotation<ReadonlyMap<string, string>, string>({
        reducer: (known, next) => {
          if (next === "calm") throw new TypeError("not in this state");
          return new Map([...known.entries(), [next, next]]);
        },
        default: () => new Map(),
      }),
    });
    const after = () =>
      new StateGraph(Moods)
        .addNode("confirm", () => ({ mood: String(interrupt({ question: "confirm" })) }))
        .addEdge(START, "confirm")
        .compile({ name: "travel" });

    const afterWithNote = () =>
      new StateGraph(Moods)
        .addNode("note", () => ({ mood: "calm" }))
        .addNode("confirm", () => ({ mood: String(interrupt({ question: "confirm" })) }))
        .addEdge(START, "note")
        .addEdge(START, "confirm")
        .compile({ name: "travel" });

    it("says so instead of failing in the graph's name", async () => {
      const { asked, session } = await changed(travel(["confirm"]), after());
      const { final } = await session.answer(answered(asked));
      expect(final).toMatchObject({ status: "error", error: { code: "graph_changed" } });
      expect(final.error?.message).toBe(
        'The graph "travel" has another state now, and what this thread holds can\'t be applied to it. Start a new thread.',
      );
    });

    it("is read from what is stored where the graph can't, and its question can be declined", async () => {
      const before = new StateGraph(State)
        .addNode("note", () => ({ mood: "calm" }))
        .addNode("confirm", ask("confirm"))
        .addEdge(START, "note")
        .addEdge(START, "confirm")
        .compile({ name: "travel" });
      const { asked, provider, session } = await changed(before, afterWithNote());
      const read = await provider.getState(session.thread);
      expect(read?.interrupts).toMatchObject([{ interrupt_id: asked.interrupts[0]?.interrupt_id }]);
      expect(read?.messages).toEqual(asked.messages);
      expect((await session.answer(answered(asked))).final.error).toMatchObject({
        code: "graph_changed",
        message: expect.stringContaining("Decline the question"),
      });
      expect((await session.answer(declined(asked))).final).toMatchObject({ status: "success" });
      expect(await provider.getState(session.thread)).toMatchObject({ next: [], interrupts: [] });
    });

    it("still takes a mistake of an unchanged graph for the graph's own", async () => {
      const session = openThread(providerOf(faultyReducer(), saver), "travel");
      const { final } = await session.say("one");
      const done = await session.answer(answered(final));
      expect(done.final.error?.code).toBe("run_failed");
    });
  });
});

/** Its reducer refuses what its own node writes. */
function faultyReducer(): RunnableGraph {
  const Faulty = Annotation.Root({
    ...MessagesAnnotation.spec,
    answers: Annotation<string[]>({
      reducer: () => {
        throw new TypeError("never");
      },
      default: () => [],
    }),
  });
  return new StateGraph(Faulty)
    .addNode("confirm", ask("confirm"))
    .addEdge(START, "confirm")
    .compile({ name: "travel" });
}
