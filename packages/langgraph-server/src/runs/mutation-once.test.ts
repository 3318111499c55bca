import type { LogEntry } from "@throughline/ai-core";
import { applyEntry, emptyThreadProjection } from "@throughline/reading";
import { expect, it } from "vitest";
import { openFreezingScenes } from "../testing/freezing-scenes.js";
import { startRequest } from "../testing/service-scene.js";

/** A sync whose driver stands still after so many chunks, taken up by another instance. `false` when it ended before. */
async function syncTakenOverAfter(chunks: number): Promise<boolean> {
  const scenes = await openFreezingScenes(chunks);
  const { a, b } = scenes;
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
    const isFrozen = await scenes.takeOver(outcome.run.runId);
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
    await scenes.close();
  }
}

/** What a reader of the log is told of the last mutation, each time it changes. */
function acknowledgements(entries: readonly LogEntry[]): unknown[] {
  const told: unknown[] = [];
  let fold = emptyThreadProjection;
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
