import { createSimulatedClock } from "@throughline/ai-core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ofType, type RecordedFrame } from "../testing/frame-recorder.js";
import {
  agUi,
  openServiceScene,
  type ServiceScene,
  startRequest,
  userMessage,
} from "../testing/service-scene.js";
import { openTestPostgres } from "../testing/test-postgres.js";
import type { EncoderOptions } from "./stream-types.js";

const withId = (frames: readonly RecordedFrame[]) =>
  frames.filter((frame) => frame.id !== undefined && frame.id !== "");

describe("A watcher", () => {
  let scene: ServiceScene;
  afterEach(() => scene.close());

  it("who comes while a run is open gets all that was, then the same live frames as everybody", async () => {
    scene = await openServiceScene();
    const thread = scene.thread("poet");
    const outcome = await scene.service.runs.start(startRequest(thread, "Write about rain"));
    if (outcome.kind !== "started") throw new Error(outcome.kind);
    const first = scene.watch(thread, { kind: "run", runId: outcome.run.runId });
    await first.frame(ofType("TEXT_MESSAGE_CONTENT"));
    const late = scene.watch(thread, { kind: "nothing" });
    await Promise.all([first.ended, late.ended]);
    expect(late.types().slice(0, 3)).toEqual(["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT"]);
    const [cursor, ...live] = withId(late.frames);
    expect(cursor?.id).toContain(".999999999.");
    const tail = withId(first.frames).slice(-live.length);
    expect(live).toEqual(tail);
    expect(late.types().at(-1)).toBe("RUN_FINISHED");
  });

  it("who returns with any cursor sees, over both lines, what an uninterrupted one saw", async () => {
    scene = await openServiceScene();
    const thread = scene.thread("travel");
    const whole = scene.watch(thread, { kind: "nothing" }, { follow: true });
    await whole.frame(ofType("RUN_FINISHED"));
    await scene.run(thread, "Plan a trip");
    await scene.run(thread, { kind: "answer", value: "KLM" });
    const frames = withId(whole.frames);
    expect(frames.length).toBeGreaterThan(30);
    for (const [index, frame] of frames.entries()) {
      const back = scene.watch(thread, { kind: "cursor", cursor: frame.id ?? "" });
      await back.ended;
      expect(withId(back.frames)).toEqual(frames.slice(index + 1));
    }
    whole.leave();
    expect(scene.failures).toEqual([]);
  });

  it.each([
    ["no cursor of ours", () => "nonsense"],
    ["of another epoch", (cursor: string) => `other${cursor}`],
    ["of other options", (cursor: string) => cursor.replace(/\.0l$/, ".1s")],
    ["ahead of the log", (cursor: string) => cursor.replace(/^([^.]+)\.\d+/, "$1.99999")],
  ])("with a cursor that is %s gets the full prelude", async (_, change) => {
    scene = await openServiceScene();
    const thread = scene.thread("chat");
    const run = await scene.run(thread, "Hello");
    const cursor = change(withId(run.frames).at(0)?.id ?? "");
    const back = scene.watch(thread, { kind: "cursor", cursor });
    await back.ended;
    expect(back.types()).toEqual(["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
  });

  it("who follows stays over runs; who does not, ends with the run", async () => {
    scene = await openServiceScene();
    const thread = scene.thread("chat");
    const follower = scene.watch(thread, { kind: "nothing" }, { follow: true });
    await follower.frame(ofType("RUN_FINISHED"));
    await scene.run(thread, "One");
    await scene.run(thread, "Two");
    expect(follower.types().filter((type) => type === "RUN_STARTED")).toHaveLength(3);
    follower.leave();
    expect(scene.service.hub.subscribers()).toBe(0);
  });

  it("of a thread that does not exist is shown an empty one", async () => {
    scene = await openServiceScene();
    const watching = scene.watch(scene.thread("chat"), { kind: "nothing" });
    expect(await watching.ended).toEqual({ reason: "done", runOpen: false });
    expect(watching.types()).toEqual(["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
  });

  it("who starts a run on a thread that another device has moved is told what it lacks first", async () => {
    scene = await openServiceScene();
    const thread = scene.thread("chat");
    await scene.run(thread, { kind: "input", messages: [userMessage("Hello", "m1")] });
    const outcome = await scene.service.runs.start(startRequest(thread, "Again"));
    if (outcome.kind !== "started") throw new Error(outcome.kind);
    const { runId } = outcome.run;
    const stranger = scene.watch(thread, { kind: "run", runId, holds: { messageIds: [], state: {} } });
    const { messages = [] } =
      (await scene.service.state.getState({ graphId: thread.graphId, threadId: thread.ref.threadId })) ?? {};
    const messageIds = messages.map((message) => message.id);
    const knower = scene.watch(thread, { kind: "run", runId, holds: { messageIds, state: {} } });
    await Promise.all([stranger.ended, knower.ended]);
    expect(stranger.types().slice(0, 3)).toEqual(["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT"]);
    expect(knower.types()).not.toContain("MESSAGES_SNAPSHOT");
    expect(knower.text()).toBe(stranger.text());
  });

  it("of AiEvents hears deltas, usage, the final text and done", async () => {
    scene = await openServiceScene();
    const thread = scene.thread("poet");
    const outcome = await scene.service.runs.start(startRequest(thread, "Write about rain"));
    if (outcome.kind !== "started") throw new Error(outcome.kind);
    const watching = scene.watch(
      thread,
      { kind: "run", runId: outcome.run.runId },
      { face: { kind: "ai-events" } },
    );
    await watching.ended;
    const kinds = watching.frames.map((frame) => frame.event);
    expect(kinds.slice(-3)).toEqual(["usage_report", "assistant_final", "done"]);
    expect(new Set(kinds.slice(0, -3))).toEqual(new Set(["text_delta"]));
  });

  it("of envelopes gets the log from its beginning, marked as replay, then goes on live", async () => {
    scene = await openServiceScene();
    const thread = scene.thread("chat");
    await scene.run(thread, "One");
    const face: EncoderOptions = { kind: "envelopes" };
    const past = scene.watch(thread, { kind: "nothing" }, { face });
    await past.ended;
    expect(past.frames.at(0)?.event).toBe("run_start");
    expect(past.frames.at(-1)?.event).toBe("run_end");
    expect(past.frames.every((frame) => frame.data.origin === "replay")).toBe(true);
    const follower = scene.watch(
      thread,
      { kind: "cursor", cursor: past.frames.at(-1)?.id ?? "" },
      { face, follow: true },
    );
    // Served once a second reader of the same thread was: joins are answered in order.
    await scene.watch(thread, { kind: "nothing" }).ended;
    await scene.run(thread, "Two");
    await follower.frame((frame) => frame.event === "run_end");
    expect(follower.frames.at(0)?.event).toBe("run_start");
    expect(follower.frames.every((frame) => frame.data.origin === "live")).toBe(true);
    follower.leave();
  });

  it("shares every live frame's bytes with all who watch the same way", async () => {
    scene = await openServiceScene();
    const thread = scene.thread("poet");
    const taken: Buffer[][] = [[], []];
    for (const into of taken) {
      scene.service.hub.subscribe(
        thread,
        { face: agUi, from: { kind: "nothing" }, follow: true },
        { write: (frames) => into.push(...frames) > 0, drained: async () => {}, end() {} },
      );
    }
    await scene.run(thread, "Write about rain");
    await vi.waitUntil(() =>
      taken.every((frames) => frames.some((frame) => frame.includes("TEXT_MESSAGE_END"))),
    );
    const [one = [], two = []] = taken;
    expect(one.every((buffer, index) => buffer === two[index])).toBe(true);
  });

  it("who comes back in a moment makes nobody read the thread again, however long it is", async () => {
    const clock = createSimulatedClock(Date.now());
    scene = await openServiceScene({ clock, lingerMs: 1_000 });
    const thread = scene.thread("poet");
    const run = await scene.run(thread, "Write about rain");
    const cursor = withId(run.frames).at(-3)?.id ?? "";
    const read = vi.spyOn(scene.service.log, "read");
    const load = vi.spyOn(scene.service.log, "follow");
    const reads = () => read.mock.calls.length + load.mock.calls.length;
    const back = async () => {
      const watching = scene.watch(thread, { kind: "cursor", cursor });
      await watching.ended;
      return withId(watching.frames);
    };
    const missed = withId(run.frames).slice(-2);
    expect(await back()).toEqual(missed);
    clock.advance(999);
    expect(await back()).toEqual(missed);
    expect(reads()).toBe(0);
    clock.advance(1_000);
    expect(await back()).toEqual(missed);
    expect(reads()).toBeGreaterThan(0);
  });

  it("is let go in order when the instance shuts down", async () => {
    scene = await openServiceScene();
    const thread = scene.thread("chat");
    const follower = scene.watch(thread, { kind: "nothing" }, { follow: true });
    await follower.frame(ofType("RUN_FINISHED"));
    await scene.service.hub.close();
    expect(await follower.ended).toEqual({ reason: "shutting_down", runOpen: false });
    const tooLate = scene.watch(thread, { kind: "nothing" });
    expect((await tooLate.ended).reason).toBe("shutting_down");
  });
});

it("A watcher who comes back sees what was written elsewhere while nobody watched here", async () => {
  const database = await openTestPostgres();
  const store = { kind: "postgres", databaseUrl: database.url } as const;
  const scene = await openServiceScene({ store });
  const elsewhere = await openServiceScene({ store });
  const thread = scene.thread("chat");
  const first = await scene.run(thread, "Hello");
  const cursor = withId(first.frames).at(-1)?.id ?? "";
  for (const text of ["One", "Two", "Three"]) {
    const there = await elsewhere.run(thread, text);
    const back = scene.watch(thread, { kind: "cursor", cursor });
    await back.ended;
    expect(withId(back.frames).slice(-withId(there.frames).length)).toEqual(withId(there.frames));
  }
  await elsewhere.close();
  await scene.close();
  await database.close();
});
