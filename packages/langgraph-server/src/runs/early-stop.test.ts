import { createMemoryCheckpointer } from "@throughline/graph-executor";
import { createMemoryDatabase } from "@throughline/thread-log";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { customCaller } from "../accounts/callers.js";
import { openServiceScene, type ServiceScene, startRequest } from "../testing/service-scene.js";
import { isType, readEvents } from "../testing/sse-events.js";
import { startTestServer, type TestServer } from "../testing/test-server.js";

const cancelled = { type: "RUN_FINISHED", metadata: { throughline: { status: "cancelled" } } };
const RUN = "/api/copilotkit/agent/poet/run";
const STOP = "/api/copilotkit/agent/poet/stop";
const asking = (threadId: string) => ({
  threadId,
  messages: [{ id: `${threadId}-1`, role: "user", content: "Write about rain" }],
});

describe("P59: a stop without a name", () => {
  let server: TestServer;
  beforeEach(() => void vi.stubEnv("THROUGHLINE_OFFLINE_PACE_MS", "5"));
  afterEach(async () => {
    vi.unstubAllEnvs();
    await server.close();
  });

  it.each([RUN, "/api/copilotkit"])(
    "is for a request that is still being signed in, at %s, and for none that comes later",
    async (path) => {
      const held: (() => void)[] = [];
      let isSlow = true;
      server = await startTestServer({
        caller: customCaller(async ({ url }) => {
          if (isSlow && url.pathname === path) await new Promise<void>((go) => held.push(go));
          return { billingAccountId: "dev", virtualKeyId: "dev" };
        }),
      });
      const body = path === RUN ? asking("early") : single("early");
      const running = server.post(path, body);
      await vi.waitFor(() => expect(held).toHaveLength(1));
      isSlow = false;
      expect(await (await server.post(`${STOP}/other`, {})).json()).toMatchObject({ outcome: "idle" });
      expect(await (await server.post(`${STOP}/early`, {})).json()).toMatchObject({ outcome: "idle" });
      const next = server.post(RUN, asking("other"));
      held[0]?.();
      expect((await readEvents(await running)).at(-1)?.data).toMatchObject(cancelled);
      const later = await readEvents(await next);
      expect(later.at(-1)?.data).toMatchObject({ metadata: { throughline: { status: "success" } } });
    },
  );

  it("is for the run of a stream that was left and come back to", async () => {
    server = await startTestServer();
    const seen = await readEvents(
      await server.post(RUN, { ...asking("resumed"), runId: "mine" }),
      isType("TEXT_MESSAGE_CONTENT"),
    );
    const back = await server.post(
      "/api/copilotkit/agent/poet/connect",
      { threadId: "resumed" },
      { "last-event-id": seen.at(-1)?.id ?? "" },
    );
    const rest = readEvents(back);
    expect(await (await server.post(`${STOP}/resumed`, {})).json()).toMatchObject({ outcome: "stopping" });
    expect((await rest).at(-1)?.data).toMatchObject({ ...cancelled, runId: "mine" });
  });
});

function single(threadId: string): object {
  return { method: "agent/run", params: { agentId: "poet" }, body: asking(threadId) };
}

describe("P56: a run that was asked to stop and whose driver is silent", () => {
  let scenes: ServiceScene[] = [];
  afterEach(async () => {
    await Promise.all(scenes.map((scene) => scene.close()));
    scenes = [];
  });

  it("is ended by whoever takes it over, and the fire that waits for it goes next", async () => {
    const shared = { database: createMemoryDatabase(), checkpointer: createMemoryCheckpointer() };
    const store = { kind: "memory" as const, shared };
    const a = await openServiceScene({ store });
    const b = await openServiceScene({ store });
    scenes = [a, b];
    const thread = a.thread("sentinel");
    const nothing = { kind: "input", messages: [] } as const;
    await a.run(thread, nothing, { command: { name: "hire" } });
    const command = { name: "cycle", args: { durationMs: 60_000 } };
    const cycle = await a.service.runs.start(startRequest(thread, nothing, { command }));
    if (cycle.kind !== "started") throw new Error(cycle.kind);
    const row = shared.database.runs.get(cycle.run.runId);
    if (!row) throw new Error("a run that started has a row");
    // As after a power cut in the very moment: the stop is noted, and no instance heard of it.
    row.stopRequested = true;
    row.leaseUntil = 0;
    const fire = await b.service.runs.start(
      startRequest(thread, nothing, { command: { name: "fire" }, strategy: "preempt" }),
    );
    if (fire.kind !== "queued") throw new Error(fire.kind);
    await b.service.runs.reap();
    const fired = b.watch(thread, { kind: "run", runId: fire.run.runId });
    await fired.ended;
    expect(fired.frames.at(-1)?.data).toMatchObject({ metadata: { throughline: { status: "success" } } });
    const stopped = b.watch(thread, { kind: "run", runId: cycle.run.runId });
    await stopped.ended;
    expect(stopped.types().filter((type) => type === "RUN_FINISHED")).toHaveLength(1);
    expect(stopped.frames.at(-1)?.data).toMatchObject(cancelled);
  });
});
