import { currentMessages, emptyThreadProjection, threadProjectionCodec } from "@throughline/reading";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { foldAt, readRun } from "../streams/read-projection.js";
import { openServiceScene, type ServiceScene } from "../testing/service-scene.js";
import { expectCheckpoint } from "../testing/shown-thread.js";

import type { ThreadAddress } from "../threads/thread-address.js";

describe("A thread whose log was compacted", () => {
  let scene: ServiceScene;
  let thread: ThreadAddress;
  let merged: number;
  let gaps: number;
  beforeEach(async () => {
    merged = 0;
    gaps = 0;
    scene = await openServiceScene({
      // What has ended is old enough at once, and no thread stays in memory.
      retention: { compactAfterMs: -1_000, sweepEveryMs: 20 },
      lingerMs: 0,
      observer: {
        swept(dropped) {
          merged += dropped.merged;
        },
        gap() {
          gaps += 1;
        },
      },
    });
    thread = scene.thread("poet");
  });
  afterEach(async () => {
    expect(scene.failures).toEqual([]);
    await scene.close();
  });

  async function readLog() {
    const page = await scene.service.log.read(thread.ref, undefined, 10_000);
    if (page.kind !== "entries") throw new Error(page.kind);
    return page.entries;
  }

  async function passRun(text: string) {
    const told = await scene.run(thread, text);
    await vi.waitFor(async () =>
      expect((await readLog()).some(({ envelope }) => envelope.merged)).toBe(true),
    );
    return told;
  }

  it("P66: shows who comes back with any cursor of the run, to a message or within it, what the checkpoint holds", async () => {
    const { frames } = await passRun("Write about rain");
    expect(merged).toBeGreaterThan(0);
    const cursors = frames.flatMap(({ id }, index) => (id ? [{ id, index }] : []));
    for (const { id, index } of cursors) {
      const back = scene.watch(thread, { kind: "cursor", cursor: id });
      expect((await back.ended).reason).toBe("done");
      const isToldAnew = back.types()[2] === "MESSAGES_SNAPSHOT";
      const rest = back.frames.filter((frame) => frame.id);
      await expectCheckpoint(
        scene,
        thread,
        isToldAnew ? back.frames : [...frames.slice(0, index + 1), ...rest],
      );
    }
    expect(gaps).toBeGreaterThan(0);
    expect(gaps).toBeLessThan(cursors.length);
  });

  it("P66: says in its envelopes which ones stand for several, and goes on from those that were kept", async () => {
    await passRun("Write about rain");
    const entries = await readLog();
    const all = scene.watch(thread, { kind: "nothing" }, { face: { kind: "envelopes" } });
    await all.ended;
    expect(all.frames.map(({ data }) => data.merged)).toEqual(entries.map(({ envelope }) => envelope.merged));
    for (const [index, { id }] of all.frames.entries()) {
      if (id === undefined) return expect.unreachable();
      const back = scene.watch(thread, { kind: "cursor", cursor: id }, { face: { kind: "envelopes" } });
      await back.ended;
      expect(back.frames).toEqual(all.frames.slice(index + 1));
    }
  });

  it("replays the run from its beginning, and finds its entries by pages", async () => {
    await passRun("Write about rain");
    await passRun("Write about snow");
    const entries = await readLog();
    const ends = entries.filter(({ envelope }) => envelope.type === "run_end");
    for (const end of ends) {
      const { run_id: runId } = end.envelope;
      const own = entries.filter(({ envelope }) => envelope.run_id === runId);
      expect(await readRun(scene.service.log, thread.ref, runId, end)).toEqual(own);
      const replay = scene.watch(thread, { kind: "run", runId, isNew: false });
      await replay.ended;
      expect([replay.types()[0], replay.types().at(-1)]).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    }
    const [first] = ends;
    if (!first) return expect.unreachable();
    const fold = await foldAt(scene.service.log, thread.ref, first);
    const whole = threadProjectionCodec.apply(
      emptyThreadProjection,
      entries.filter(({ seq }) => seq <= first.seq),
    );
    expect(fold && currentMessages(fold)).toEqual(currentMessages(whole));
    const inside = entries.find(({ envelope }) => envelope.merged);
    if (!inside) return expect.unreachable();
    expect(await foldAt(scene.service.log, thread.ref, { ...inside, seq: inside.seq - 1 })).toBeUndefined();
    const later = await scene.run(thread, "And hail?");
    expect(later.types().at(-1)).toBe("RUN_FINISHED");
  });
});
