import { threadProjectionCodec } from "@throughline/reading";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { ServiceOptions } from "../server/create-service.js";
import { ofType } from "../testing/frame-recorder.js";
import { createScriptedProvider } from "../testing/scripted-provider.js";
import { openServiceScene, type ServiceScene, startRequest } from "../testing/service-scene.js";
import { expectCheckpoint } from "../testing/shown-thread.js";
import { stockView } from "../testing/stock-view.js";
import {
  openSpoilableMemory,
  openSpoilablePostgres,
  type SpoilableStore,
} from "../testing/unfoldable-thread.js";
import type { ThreadAddress } from "../threads/thread-address.js";

/** A snapshot is saved behind the run, when the machine has time for it. */
const SOON = { timeout: 10_000, interval: 20 };

describe.each([
  ["in memory", openSpoilableMemory],
  ["in PostgreSQL", openSpoilablePostgres],
])("A thread %s whose beginning was trimmed and whose snapshots can't be read", (_, openStore) => {
  let spoilable: SpoilableStore;
  let scenes: ServiceScene[];
  beforeAll(async () => {
    spoilable = await openStore();
  });
  beforeEach(() => {
    scenes = [];
  });
  afterEach(async () => {
    await Promise.all(scenes.map((scene) => scene.close()));
  });
  afterAll(() => spoilable?.close());

  async function openInstance(options: Partial<ServiceOptions> = {}): Promise<ServiceScene> {
    const scene = await openServiceScene({ store: spoilable.store, reapEveryMs: 60_000, ...options });
    scenes.push(scene);
    return scene;
  }

  async function spoil({ service }: ServiceScene, thread: ThreadAddress): Promise<void> {
    const trimmed = await service.log.trim(thread.ref, { maxEntries: 2 });
    expect(trimmed.dropped).toBeGreaterThan(0);
    await spoilable.spoilSnapshots(thread);
    expect(await snapshotSeq(service, thread)).toBeUndefined();
  }

  async function threeRuns(): Promise<ThreadAddress> {
    const scene = await openInstance();
    const thread = scene.thread("chat");
    for (const text of ["One", "Two", "Three"]) await scene.run(thread, text);
    await spoil(scene, thread);
    return thread;
  }

  it("shows all its messages, is saved at its head, and is not rebuilt again", async () => {
    const thread = await threeRuns();
    const scene = await openInstance();
    const asked = vi.spyOn(scene.service.state, "getState");
    const viewers = [1, 2, 3].map(() => scene.watch(thread, { kind: "nothing" }));
    for (const viewer of viewers) {
      expect(await viewer.ended).toEqual({ reason: "done", runOpen: false });
      await expectCheckpoint(scene, thread, viewer.frames);
      expect((await stockView(viewer.frames)).messages).toHaveLength(6);
    }
    const head = await scene.service.log.head(thread.ref);
    expect(await snapshotSeq(scene.service, thread)).toBe(head?.seq);
    const other = await openInstance();
    const askedThere = vi.spyOn(other.service.state, "getState");
    const again = other.watch(thread, { kind: "nothing" });
    await again.ended;
    // Each connection to an idle thread compares it with its checkpoint, once.
    expect(askedThere).toHaveBeenCalledTimes(1);
    expect(asked.mock.calls.length).toBeGreaterThan(askedThere.mock.calls.length);
    expect(again.frames.map(({ data }) => data)).toEqual(viewers[0]?.frames.map(({ data }) => data));
  });

  it("is driven, folded and trimmed as usual from the next run on", async () => {
    const thread = await threeRuns();
    const scene = await openInstance();
    const before = await scene.service.log.head(thread.ref);
    await scene.run(thread, "Four");
    expect(await snapshotSeq(scene.service, thread)).toBe(before?.seq);
    await scene.run(thread, "Five");
    const head = await scene.service.log.head(thread.ref);
    expect(await scene.service.log.trim(thread.ref, { maxEntries: 2 })).toMatchObject({
      floor: (head?.seq ?? 0) - 1,
    });
    const other = await openInstance();
    const viewer = other.watch(thread, { kind: "nothing" });
    await viewer.ended;
    await expectCheckpoint(other, thread, viewer.frames);
    expect((await stockView(viewer.frames)).messages).toHaveLength(10);
    expect(scene.failures).toEqual([]);
  });

  it("is rebuilt by a trim, too, for which no subscriber has to come", async () => {
    const thread = await threeRuns();
    const { service } = await openInstance();
    const head = await service.log.head(thread.ref);
    expect(await service.log.trim(thread.ref, { maxEntries: 1 })).toMatchObject({ floor: head?.seq });
    expect(await snapshotSeq(service, thread)).toBe(head?.seq);
  });

  it("in the middle of a run shows it live at once, and ends as for who was there all the time", async () => {
    const provider = createScriptedProvider();
    const here = await openInstance({ graphs: provider });
    const there = await openInstance({ graphs: provider });
    const thread = here.thread("scripted");
    const first = here.run(thread, "One");
    const firstRun = await provider.nextRun();
    firstRun.say("First");
    firstRun.end();
    await first;

    const outcome = await here.service.runs.start(startRequest(thread, "Two"));
    if (outcome.kind !== "started") return expect.unreachable(outcome.kind);
    const present = here.watch(thread, { kind: "run", runId: outcome.run.runId, isNew: true });
    const run = await provider.nextRun();
    for (const text of ["a ", "b ", "c "]) await say(text);
    await spoil(here, thread);

    const late = [
      there.watch(thread, { kind: "nothing" }),
      there.watch(thread, { kind: "nothing" }, { follow: true }),
    ];
    await Promise.all(late.map((viewer) => viewer.frame(ofType("RUN_STARTED"))));
    await say("d ");
    await Promise.all(late.map((viewer) => viewer.frame(saying("d "))));
    for (const viewer of late) {
      expect(viewer.types().slice(0, 3)).toEqual(["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT"]);
      const start = viewer.types().indexOf("TEXT_MESSAGE_START");
      expect(start).toBeGreaterThan(0);
      expect(start).toBeLessThan(viewer.types().indexOf("TEXT_MESSAGE_CONTENT"));
    }
    await say("e");
    run.end();
    await Promise.all([present.ended, ...late.map((viewer) => viewer.frame(ofType("RUN_FINISHED")))]);
    const shownToAll = (await stockView(present.frames)).messages.filter(({ role }) => role === "assistant");
    expect(shownToAll.at(-1)?.content).toBe("a b c d e");
    for (const viewer of late) {
      await expectCheckpoint(there, thread, viewer.frames);
      expect((await stockView(viewer.frames)).messages).toHaveLength(4);
    }
    const head = await there.service.log.head(thread.ref);
    await vi.waitFor(async () => expect(await snapshotSeq(there.service, thread)).toBe(head?.seq), SOON);
    const third = await openInstance({ graphs: provider });
    const afterwards = third.watch(thread, { kind: "nothing" });
    await afterwards.ended;
    await expectCheckpoint(third, thread, afterwards.frames);
    expect([...here.failures, ...there.failures, ...third.failures]).toEqual([]);

    async function say(text: string): Promise<void> {
      run.say(text);
      await present.frame(saying(text));
    }
  });
});

/** Samplers join pieces: the one that ends with this text. */
const saying =
  (text: string) => (frame: { readonly data: { readonly type: string; readonly delta?: unknown } }) =>
    frame.data.type === "TEXT_MESSAGE_CONTENT" && String(frame.data.delta).endsWith(text);

async function snapshotSeq(
  { log }: ServiceScene["service"],
  { ref }: ThreadAddress,
): Promise<number | undefined> {
  return (await log.snapshot(ref, threadProjectionCodec.reads))?.position.seq;
}
