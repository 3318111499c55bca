import { randomUUID } from "node:crypto";
import { createMemoryDatabase, createMemoryRunRegistry, type StartRun } from "@throughline/thread-log";
import { expect, it, vi } from "vitest";
import { createStopsDuringClaim } from "./stop-runs.js";

it("R25: a stop that comes while a run is claimed is known to whoever takes it up, and forgotten after that", async () => {
  const registry = createMemoryRunRegistry(createMemoryDatabase());
  const heard = createStopsDuringClaim(registry);
  const thread = { account: "acme", threadId: randomUUID() };
  const request: StartRun = {
    owner: "here",
    leaseMs: 60_000,
    thread,
    stateKey: "chat/one",
    runId: randomUUID(),
    graphId: "langgraph:chat",
    origin: { kind: "client" },
    start: { kind: "input", messages: [] },
    request: {},
    strategy: "reject",
    listing: { threadName: "main", derivedTitle: undefined },
  };
  const { runId } = request;
  await heard.during(async () => {
    await registry.start(request);
    await registry.stop(thread, { runId });
    await vi.waitFor(() => expect(heard.has(runId)).toBe(true));
  });
  expect(heard.has(runId)).toBe(true);
  await vi.waitFor(() => expect(heard.has(runId)).toBe(false));
  await registry.stop(thread, { runId });
  await new Promise((turn) => setImmediate(turn));
  expect(heard.has(runId)).toBe(false);
  heard.close();
});
