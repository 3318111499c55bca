import { fileURLToPath } from "node:url";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import type { FreshRunStart, GraphFinal } from "@throughline/ai-core";
import { expect, it } from "vitest";
import { BEHAVIOUR_PROJECT } from "../behaviour/executor-behaviour.js";
import { startedNodes } from "../behaviour/streamed.js";
import { openThread } from "../behaviour/thread-session.js";
import { loadProjectGraphs } from "../graphs/project-graphs.js";
import { createInProcProvider } from "./provider.js";

const graphs = await loadProjectGraphs(fileURLToPath(BEHAVIOUR_PROJECT));

function askedThread() {
  const provider = createInProcProvider({ graphs, checkpointer: new MemorySaver() });
  return { provider, session: openThread(provider, "asker") };
}

const answering = (final: GraphFinal, answer: string): FreshRunStart => ({
  kind: "resume",
  answers: { [final.interrupts[0]?.interrupt_id ?? ""]: answer },
});

it("gives an answer that was written down and never taken, when the run is taken up", async () => {
  const { session } = askedThread();
  const answer = answering((await session.say("one")).final, "yes");
  const abort = new AbortController();
  const cut = await session.run(answer, {
    signal: abort.signal,
    onChunk: () => abort.abort(),
  });
  expect(cut.final.status).toBe("cancelled");
  const taken = await session.run({ kind: "continue", original: answer }, { runId: cut.runId, attempt: 1 });
  expect(taken.final).toMatchObject({ status: "success", state: { answers: ['"yes"'] } });
});

it("does not give the first answer to a second question that looks the same", async () => {
  const { session } = askedThread();
  const answer = answering((await session.say("twice")).final, "yes");
  const ran = await session.run(answer);
  expect(ran.final).toMatchObject({
    status: "interrupted",
    interrupts: [{ value: { question: "second?" } }],
  });
  const taken = await session.run({ kind: "continue", original: answer }, { runId: ran.runId, attempt: 1 });
  expect(startedNodes(taken.chunks)).toEqual([]);
  expect(taken.final.interrupts).toEqual(ran.final.interrupts);
});

it("gives the second answer of one node after a crash, though the first was the same", async () => {
  const { session } = askedThread();
  const second = (await session.run(answering((await session.say("twice")).final, "yes"))).final;
  const answer = answering(second, "yes");
  const abort = new AbortController();
  const cut = await session.run(answer, { signal: abort.signal, onChunk: () => abort.abort() });
  const taken = await session.run({ kind: "continue", original: answer }, { runId: cut.runId, attempt: 1 });
  expect(taken.final).toMatchObject({ status: "success", state: { answers: ['"yes"', '"yes"'] } });
});

it("shows nobody a question that was answered and whose run was then stopped", async () => {
  const { provider, session } = askedThread();
  const answer = answering((await session.say("nested")).final, "yes");
  const abort = new AbortController();
  const stopped = await session.run(answer, {
    signal: abort.signal,
    onChunk: () => abort.abort(),
  });
  expect(stopped.final).toMatchObject({ status: "cancelled", interrupts: [] });
  expect((await provider.getState(session.thread))?.interrupts).toEqual([]);
  expect((await session.say("one")).final.interrupts).toHaveLength(1);
});
