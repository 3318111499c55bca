import { createMemoryCheckpointer } from "@throughline/graph-executor";
import { createMemoryDatabase } from "@throughline/thread-log";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { SharedMemory } from "../server/open-stores.js";
import { openServiceScene, type ServiceScene, startRequest } from "../testing/service-scene.js";
import { expectCheckpoint } from "../testing/shown-thread.js";
import type { ThreadAddress } from "../threads/thread-address.js";

/** The driver dies between the registry and its first entry: here it is one whose log never answers. */
describe("Whoever comes to a run that is in the registry and not in the log", () => {
  let shared: SharedMemory;
  let scene: ServiceScene;
  let thread: ThreadAddress;

  beforeEach(async () => {
    shared = { database: createMemoryDatabase(), checkpointer: createMemoryCheckpointer() };
    scene = await openServiceScene({ store: { kind: "memory", shared }, reapEveryMs: 60_000 });
    thread = scene.thread("poet");
  });
  afterEach(() => scene.close());

  /** As if a process had been killed right after it was told that the run is its. */
  async function leaveRunUnbegun(): Promise<string> {
    const other = await openServiceScene({ store: { kind: "memory", shared }, reapEveryMs: 60_000 });
    const silence = new Promise<never>(() => {});
    vi.spyOn(other.service.executor, "runGraph").mockReturnValue({
      stream: { [Symbol.asyncIterator]: () => ({ next: () => silence }) },
      final: silence,
    });
    const append = vi.spyOn(other.service.log, "append").mockReturnValue(silence);
    const outcome = await other.service.runs.start(startRequest(thread, "Write about rain"));
    if (outcome.kind !== "started") throw new Error(outcome.kind);
    await vi.waitFor(() => expect(append).toHaveBeenCalled());
    return outcome.run.runId;
  }

  function expire(runId: string): void {
    const run = shared.database.runs.get(runId);
    if (run) run.leaseUntil = 0;
  }

  it("waits, and sees it taken up and ended", async () => {
    const runId = await leaveRunUnbegun();
    const waiting = scene.watch(thread, { kind: "nothing" });
    await vi.waitFor(() => expect(scene.service.hub.subscribers()).toBe(1));
    expire(runId);
    await scene.service.runs.reap();
    expect(await waiting.ended).toEqual({ reason: "done", runOpen: false });
    expect(waiting.types().filter((type) => type === "RUN_FINISHED")).toHaveLength(1);
    await expectCheckpoint(scene, thread, waiting.frames);
    expect(waiting.text()).not.toBe("");
  });

  it("is told that the thread is idle once the run was given up", async () => {
    const runId = await leaveRunUnbegun();
    const waiting = scene.watch(thread, { kind: "nothing" });
    const run = shared.database.runs.get(runId);
    if (run) run.status = "cancelled";
    expect(await waiting.ended).toEqual({ reason: "done", runOpen: false });
    expect(waiting.text()).toBe("");
  });
});
