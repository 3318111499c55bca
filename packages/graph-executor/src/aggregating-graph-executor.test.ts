import { fileURLToPath } from "node:url";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { expect, it } from "vitest";
import { BEHAVIOUR_PROJECT } from "./behaviour/executor-behaviour.js";
import { openThread } from "./behaviour/thread-session.js";
import { loadProjectGraphs } from "./graphs/project-graphs.js";
import { createInProcProvider } from "./inproc/provider.js";
import {
  createAggregatingAgentCatalog,
  createAggregatingGraphExecutor,
  type GraphProvider,
} from "./provider.js";

const graphs = await loadProjectGraphs(fileURLToPath(BEHAVIOUR_PROJECT));
const inproc = createInProcProvider({ graphs, checkpointer: new MemorySaver() });
const other: GraphProvider = {
  ...inproc,
  providerId: "other",
  listAgents: async () => [],
  getAgent: async () => undefined,
};

it("refuses two providers of one id, since both would claim the same graphs", () => {
  for (const create of [createAggregatingGraphExecutor, createAggregatingAgentCatalog]) {
    expect(() => create([inproc, { ...inproc, executorType: "langgraph_server" }])).toThrow(
      /Two providers are registered as "langgraph" \(inproc and langgraph_server\)/,
    );
    expect(() => create([])).toThrow("No graph provider");
  }
});

it("runs a graph where its id says, and reads its state there", async () => {
  const executor = createAggregatingGraphExecutor([other, inproc]);
  const provider: GraphProvider = { ...inproc, ...executor };
  const session = openThread(provider, "notebook");
  const { final } = await session.say("Hello");
  expect(final.status).toBe("success");
  expect((await executor.getState(session.thread))?.checkpointId).toBe(final.checkpointId);
  expect(await executor.history(session.thread, { limit: 1 })).toHaveLength(1);
  expect(await executor.committedMessages(session.thread, [])).toEqual(new Set());
  await executor.updateState(session.thread, { state: { topic: "moon" } });
  await executor.deleteThread(session.thread);
  expect(await executor.getState({ ...session.thread, graphId: "notebook" })).toBeUndefined();
});

it("answers for an id of no provider with the prefixes there are", async () => {
  const executor = createAggregatingGraphExecutor([inproc]);
  await expect(executor.getState({ graphId: "claude:chat", threadId: "t" })).rejects.toMatchObject({
    code: "not_found",
    message: expect.stringContaining("langgraph:"),
  });
});

it("ends a run of an id of no provider as not found, without a throw", async () => {
  const executor = createAggregatingGraphExecutor([{ ...inproc, providerId: "other" }]);
  const { chunks, final } = await openThread({ ...inproc, ...executor }, "chat").say("Hello");
  expect(chunks).toEqual([]);
  expect(final).toMatchObject({ ok: false, status: "error", error: { code: "not_found" } });
});

it("lists the agents of all providers under stable ids", async () => {
  const catalog = createAggregatingAgentCatalog([other, inproc]);
  const ids = (await catalog.listAgents()).map((agent) => agent.graphId);
  expect(ids).toContain("langgraph:chat");
  expect(ids.every((id) => /^langgraph:[a-z_-]+$/.test(id))).toBe(true);
  expect(await catalog.getAgent("langgraph:chat")).toMatchObject({ graphName: "chat" });
  expect(await catalog.getAgent("langgraph:nobody")).toBeUndefined();
});
