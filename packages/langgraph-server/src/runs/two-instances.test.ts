import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ofType } from "../testing/frame-recorder.js";
import { openServiceScene, type ServiceScene, startRequest } from "../testing/service-scene.js";
import { expectCheckpoint } from "../testing/shown-thread.js";
import { openTestPostgres, type TestPostgres } from "../testing/test-postgres.js";

describe("Two instances on one PostgreSQL", () => {
  let postgres: TestPostgres;
  let a: ServiceScene;
  let b: ServiceScene;

  beforeAll(async () => {
    postgres = await openTestPostgres();
    const store = { kind: "postgres" as const, databaseUrl: postgres.url };
    [a, b] = await Promise.all([openServiceScene({ store }), openServiceScene({ store })]);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await Promise.all([a.close(), b.close()]);
    await postgres.close();
  });

  it("show the same frames of a run that one of them drives", async () => {
    const thread = a.thread("poet");
    const far = b.watch(thread, { kind: "nothing" }, { follow: true });
    await far.frame(ofType("RUN_FINISHED"));
    const before = far.frames.length;
    const near = await a.run(thread, "Write about rain");
    await far.frame((frame) => frame.id === near.frames.at(-1)?.id);
    expect(far.frames.slice(before)).toEqual(near.frames);
    await expectCheckpoint(b, thread, near.frames);
    far.leave();
  });

  it("stop each other's runs", async () => {
    vi.stubEnv("THROUGHLINE_OFFLINE_PACE_MS", "50");
    const thread = a.thread("poet");
    const outcome = await a.service.runs.start(startRequest(thread, "Write about rain"));
    if (outcome.kind !== "started") throw new Error(outcome.kind);
    const watching = b.watch(thread, { kind: "run", runId: outcome.run.runId });
    await watching.frame(ofType("TEXT_MESSAGE_CONTENT"));
    expect((await b.service.runs.stop(thread)).kind).toBe("stopping");
    await watching.ended;
    expect(watching.frames.at(-1)?.data).toMatchObject({
      metadata: { throughline: { status: "cancelled" } },
    });
    vi.stubEnv("THROUGHLINE_OFFLINE_PACE_MS", "0");
  });

  it("ask on one and take the answer on the other, once", async () => {
    const thread = a.thread("travel");
    await a.run(thread, "Plan a trip");
    const answer = startRequest(thread, { kind: "answer", value: "KLM" });
    const outcomes = await Promise.all([
      a.service.runs.start(answer),
      b.service.runs.start(answer),
      b.service.runs.start(startRequest(thread, { kind: "answer", value: "United" })),
    ]);
    const kinds = outcomes.map(({ kind }) => kind).sort();
    expect(kinds.filter((kind) => kind === "started")).toHaveLength(1);
    expect(kinds).toContain("conflict");
    expect([...a.failures, ...b.failures]).toEqual([]);
  });
});
