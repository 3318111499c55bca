import { fileURLToPath } from "node:url";
import type { RunnableConfig } from "@langchain/core/runnables";
import { type BaseCheckpointSaver, MemorySaver } from "@langchain/langgraph-checkpoint";
import type { FreshRunStart, GraphFinal, UpstreamChunk } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { BEHAVIOUR_PROJECT } from "../behaviour/executor-behaviour.js";
import { streamedMessages } from "../behaviour/streamed.js";
import { openThread, type ThreadSession, userMessage } from "../behaviour/thread-session.js";
import { ForwardingSaver } from "../checkpoints/run-saver.js";
import { loadProjectGraphs } from "../graphs/project-graphs.js";
import type { GraphProvider } from "../provider.js";
import { createInProcProvider } from "./provider.js";

const graphs = await loadProjectGraphs(fileURLToPath(BEHAVIOUR_PROJECT));

/** As a database is: a write is there a while after it was asked for, and chunks run ahead of it. */
class LaggingSaver extends ForwardingSaver {
  readonly #turns: number;
  readonly #onWrite: () => void;

  constructor(inner: BaseCheckpointSaver, turns: number, onWrite: () => void) {
    super(inner);
    this.#turns = turns;
    this.#onWrite = onWrite;
  }

  override async put(...write: Parameters<ForwardingSaver["put"]>): Promise<RunnableConfig> {
    await this.#lag();
    return super.put(...write).finally(this.#onWrite);
  }

  override async putWrites(...write: Parameters<ForwardingSaver["putWrites"]>): Promise<void> {
    await this.#lag();
    return super.putWrites(...write).finally(this.#onWrite);
  }

  async #lag(): Promise<void> {
    for (let turn = 0; turn < this.#turns; turn++) await new Promise(setImmediate);
  }
}

/** What a killed process leaves behind. */
function copyOf({ storage, writes }: MemorySaver): MemorySaver {
  return Object.assign(new MemorySaver(), structuredClone({ storage, writes }));
}

function providerOn(checkpointer: BaseCheckpointSaver): GraphProvider {
  return createInProcProvider({ graphs, checkpointer });
}

const RUN_ID = "0198d1a0-0000-7000-8000-000000000001";

interface Crash {
  readonly saver: MemorySaver;
  readonly chunks: readonly UpstreamChunk[];
}

/** Runs to the end and keeps what a crash would have left at each chunk and after each write. Equal ones count once. */
async function crashesOf(
  saver: MemorySaver,
  lag: number,
  openOn: (provider: GraphProvider) => ThreadSession,
  start: FreshRunStart,
): Promise<{ readonly crashes: readonly Crash[]; readonly final: GraphFinal }> {
  const crashes = new Map<string, Crash>();
  const chunks: UpstreamChunk[] = [];
  const crash = () => {
    const held = Object.values(saver.writes).map((writes) => Object.keys(writes).length);
    const key = [...held, countCheckpoints(saver), "and", streamedMessages(chunks).length].join();
    if (!crashes.has(key)) crashes.set(key, { saver: copyOf(saver), chunks: [...chunks] });
  };
  const { final } = await openOn(providerOn(new LaggingSaver(saver, lag, crash))).run(start, {
    runId: RUN_ID,
    onChunk: (chunk) => {
      chunks.push(chunk);
      crash();
    },
  });
  return { crashes: [...crashes.values()], final };
}

function countCheckpoints({ storage }: MemorySaver): number {
  const namespaces = Object.values(storage).flatMap((thread) => Object.values(thread));
  return namespaces.reduce((sum, checkpoints) => sum + Object.keys(checkpoints).length, 0);
}

const assistants = (final: GraphFinal) =>
  (final.messages ?? []).filter((message) => message.role === "assistant");
const texts = (final: GraphFinal) =>
  (final.messages ?? []).map((message) => `${message.role} ${message.content}`).sort();

describe.each([0, 3])("A run killed at any moment, its writes %i turns late, and taken up again", (lag) => {
  const message = userMessage("go");
  const input: FreshRunStart = { kind: "input", messages: [message] };

  /** A thread whose first turn is over: its checkpoint must not be taken for the crashed run's. */
  async function secondTurn() {
    const saver = new MemorySaver();
    const first = openThread(providerOn(saver), "everything");
    await first.say("skip");
    return { saver, openOn: (provider: GraphProvider) => first.on(provider) };
  }

  async function takeUp(
    crash: Crash,
    openOn: (provider: GraphProvider) => ThreadSession,
    original: FreshRunStart,
  ) {
    const provider = providerOn(crash.saver);
    const session = openOn(provider);
    const streamed = streamedMessages(crash.chunks);
    const committed = await provider.committedMessages(session.thread, streamed);
    const taken = await session.run({ kind: "continue", original }, { runId: RUN_ID, attempt: 1 });
    return { streamed, committed, ...taken };
  }

  it("ends with every message once, and with those streamed before that the saver held", async () => {
    const { saver, openOn } = await secondTurn();
    const { crashes, final } = await crashesOf(saver, lag, openOn, input);
    expect(final.status).toBe("interrupted");
    expect(crashes.length).toBeGreaterThan(30);
    let sometimesKept = 0;
    for (const crash of crashes) {
      const taken = await takeUp(crash, openOn, input);
      const inEnd = new Set(assistants(taken.final).map(({ id }) => id));
      expect(taken.final).toMatchObject({ status: "interrupted", interrupts: [{ node: "ask" }] });
      expect(texts(taken.final)).toEqual(texts(final));
      for (const { messageId } of taken.streamed) {
        expect(inEnd.has(messageId)).toBe(taken.committed.has(messageId));
      }
      sometimesKept += taken.committed.size;
    }
    expect(sometimesKept).toBeGreaterThan(0);
  });

  it("gives the answer it was started with exactly once", async () => {
    const { saver, openOn } = await secondTurn();
    const asked = (await openOn(providerOn(saver)).run(input)).final;
    const answer: FreshRunStart = {
      kind: "resume",
      answers: { [asked.interrupts[0]?.interrupt_id ?? ""]: false },
    };
    const { crashes, final } = await crashesOf(saver, lag, openOn, answer);
    expect(final).toMatchObject({ status: "success", state: { answers: ["false"] } });
    for (const crash of crashes) {
      const taken = await takeUp(crash, openOn, answer);
      expect(taken.final).toMatchObject({ status: "success", state: { answers: ["false"] } });
      expect(texts(taken.final)).toEqual(texts(final));
    }
  });
});
