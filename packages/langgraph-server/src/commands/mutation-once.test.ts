import type { LogEntry } from "@throughline/ai-core";
import { createInProcProvider, createMemoryCheckpointer } from "@throughline/graph-executor";
import { applyEntry, emptyFold } from "@throughline/reading";
import { createMemoryDatabase, createMemoryRunRegistry } from "@throughline/thread-log";
import { expect, it } from "vitest";
import { catalogGraphs } from "../drive/catalog-graphs.js";
import { freezingProvider } from "../testing/freezing-provider.js";
import { openServiceScene, startRequest } from "../testing/service-scene.js";

/** A sync whose driver stands still after so many chunks, taken up by another instance. `false` when it ended before. */
async function syncTakenOverAfter(chunks: number): Promise<boolean> {
  const shared = { database: createMemoryDatabase(), checkpointer: createMemoryCheckpointer() };
  const store = { kind: "memory" as const, shared };
  const b = await openServiceScene({ store });
  const inner = createInProcProvider({
    graphs: catalogGraphs(),
    checkpointer: shared.checkpointer.saver,
    lease: createMemoryRunRegistry(shared.database),
  });
  const provider = freezingProvider(inner, chunks);
  const a = await openServiceScene({ store, graphs: provider, leaseMs: 200 });
  try {
    const thread = b.thread("sentinel");
    await b.run(thread, { kind: "input", messages: [] }, { command: { name: "hire" } });
    const outcome = await a.service.runs.start(
      startRequest(
        thread,
        { kind: "input", messages: [], state: { settings: { watch: ["queue"] } } },
        { command: { name: "sync", clientMutationId: "m1" } },
      ),
    );
    if (outcome.kind !== "started") throw new Error(outcome.kind);
    const isFrozen = await provider.frozen;
    const run = shared.database.runs.get(outcome.run.runId);
    if (run && isFrozen) run.leaseUntil = 0;
    await b.service.runs.reap();
    const watching = b.watch(thread, { kind: "run", runId: outcome.run.runId });
    await watching.ended;
    const page = await b.service.log.read(thread.ref, undefined, 10_000);
    const entries = page.kind === "entries" ? page.entries : [];
    expect(acknowledgements(entries)).toEqual(["m1"]);
    const checkpoint = await b.service.state.getState({
      graphId: thread.graphId,
      threadId: thread.ref.threadId,
    });
    expect(checkpoint?.state).toMatchObject({
      settings: { watch: ["queue"] },
      lastAppliedClientMutationId: "m1",
      log: [{ command: "hire" }, { command: "sync" }],
    });
    return isFrozen;
  } finally {
    await Promise.all([a.close(), b.close()]);
  }
}

/** What a reader of the log is told of the last mutation, each time it changes. */
function acknowledgements(entries: readonly LogEntry[]): unknown[] {
  const told: unknown[] = [];
  let fold = emptyFold;
  for (const entry of entries) {
    const before = fold.state.lastAppliedClientMutationId ?? null;
    fold = applyEntry(fold, entry);
    const after = fold.state.lastAppliedClientMutationId ?? null;
    if (after !== before) told.push(after);
  }
  return told;
}

it("P54: a mutation is acknowledged exactly once, after whichever chunk its driver was lost", async () => {
  let chunks = 0;
  while (await syncTakenOverAfter(chunks)) chunks += 1;
  expect(chunks).toBeGreaterThan(3);
}, 60_000);
