import { createLangGraphDevProvider, createMemoryCheckpointer } from "@throughline/graph-executor";
import { createMemoryDatabase, type RunRecord } from "@throughline/thread-log";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type DevUpstream, startDevUpstream } from "../testing/dev-upstream.js";
import { ofType, type RecordedFrame } from "../testing/frame-recorder.js";
import { openServiceScene, type ServiceScene } from "../testing/service-scene.js";
import { expectCheckpoint } from "../testing/shown-thread.js";
import type { ThreadAddress } from "../threads/thread-address.js";

const SOON = { timeout: 10_000, interval: 10 };
const watchPace = { activeMs: 50, idleMs: 200 };

let upstream: DevUpstream;
let scenes: ServiceScene[] = [];
beforeAll(async () => {
  upstream = await startDevUpstream(10);
}, 60_000);
afterEach(async () => {
  await Promise.all(scenes.splice(0).map((scene) => scene.close()));
});
afterAll(() => upstream?.stop());

/** Two instances of one service in front of the upstream. */
async function twoInstances(): Promise<readonly [ServiceScene, ServiceScene]> {
  const shared = { database: createMemoryDatabase(), checkpointer: createMemoryCheckpointer() };
  const open = () =>
    openServiceScene({
      store: { kind: "memory", shared },
      graphs: createLangGraphDevProvider({ url: upstream.url, watchPace }),
      reapEveryMs: 100,
    });
  const [a, b] = [await open(), await open()];
  scenes = [a, b];
  return [a, b];
}

const follow = (scene: ServiceScene, thread: ThreadAddress) =>
  scene.watch(thread, { kind: "nothing" }, { follow: true });
const runsOf = ({ service }: ServiceScene, { ref }: ThreadAddress) => service.registry.list(ref, 10);

const endOf =
  (run: RunRecord | undefined) =>
  ({ data }: RecordedFrame): boolean =>
    data.type === "RUN_FINISHED" && data.runId === run?.runId;

describe("A run that an outsider starts on a LangGraph server", () => {
  it("is written down by one of two instances while it runs, and told to whoever watches on either", async () => {
    const [a, b] = await twoInstances();
    const thread = a.thread("poet");
    const watching = [follow(a, thread), follow(b, thread)];
    const upstreamRunId = await upstream.startRun(thread.ref.threadId, "poet", "Rain");
    await Promise.all(watching.map(({ frame }) => frame(ofType("TEXT_MESSAGE_CONTENT"))));
    expect(await upstream.runs(thread.ref.threadId)).toMatchObject([{ status: "running" }]);
    const [run, ...others] = await runsOf(a, thread);
    expect(run).toMatchObject({ origin: { kind: "foreign", id: upstreamRunId }, upstreamRunId });
    expect(others).toEqual([]);
    expect(a.service.runs.driving() + b.service.runs.driving()).toBe(1);
    await Promise.all(watching.map(({ frame }) => frame(endOf(run))));
    for (const { frames } of watching) await expectCheckpoint(a, thread, frames);
    await vi.waitFor(async () => expect((await runsOf(a, thread))[0]?.status).toBe("success"), SOON);
    expect([...a.failures, ...b.failures]).toEqual([]);
  });

  it.each([
    ["in its events", ["events"], "events"],
    ["in its stream modes, where it has both", ["events", "messages-tuple", "values"], "modes"],
  ])("is told token by token %s", async (_, modes, dialect) => {
    const [a] = await twoInstances();
    const thread = a.thread("poet");
    const watching = follow(a, thread);
    await upstream.startRun(thread.ref.threadId, "poet", "Hail", modes);
    await watching.frame(ofType("TEXT_MESSAGE_CONTENT"));
    expect(await upstream.runs(thread.ref.threadId)).toMatchObject([{ status: "running" }]);
    const [run] = await runsOf(a, thread);
    expect(run?.request.dialect).toBe(dialect);
    await watching.frame(endOf(run));
    expect(watching.frames.filter(ofType("TEXT_MESSAGE_CONTENT")).length).toBeGreaterThan(4);
    await expectCheckpoint(a, thread, watching.frames);
    expect(a.failures).toEqual([]);
  });

  it("is cancelled there when somebody stops it here", async () => {
    const [a, b] = await twoInstances();
    const thread = a.thread("poet");
    const watching = follow(a, thread);
    await upstream.startRun(thread.ref.threadId, "poet", "Snow");
    await watching.frame(ofType("TEXT_MESSAGE_CONTENT"));
    const [run] = await runsOf(b, thread);
    expect(await b.service.runs.stop(thread)).toMatchObject({ kind: "stopping" });
    await watching.frame(endOf(run));
    expect(await upstream.runs(thread.ref.threadId)).toMatchObject([{ status: "interrupted" }]);
    await vi.waitFor(async () => expect((await runsOf(a, thread))[0]?.status).toBe("cancelled"), SOON);
  });

  it("is read on by another instance when its driver leaves, and not run again", async () => {
    const [a, b] = await twoInstances();
    const thread = a.thread("poet");
    await upstream.startRun(thread.ref.threadId, "poet", "Fog");
    const watching = follow(a, thread);
    await watching.frame(ofType("TEXT_MESSAGE_CONTENT"));
    await a.service.close({ drainMs: 0 });
    const later = follow(b, thread);
    const [run] = await runsOf(b, thread);
    await later.frame(endOf(run));
    await expectCheckpoint(b, thread, later.frames);
    expect((await runsOf(b, thread)).map(({ attempt }) => attempt)).toEqual([1]);
    expect(await upstream.runs(thread.ref.threadId)).toMatchObject([{ status: "success" }]);
  });
});
