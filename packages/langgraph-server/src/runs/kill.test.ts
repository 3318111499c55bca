import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { buildChildProgram, type ChildProgram, untilExit } from "../testing/child-program.js";
import type { KillOrder } from "../testing/drive-until-killed.js";
import { ann, openServiceScene, type ServiceScene, startRequest } from "../testing/service-scene.js";
import { expectCheckpoint } from "../testing/shown-thread.js";
import { openTestPostgres, type TestPostgres } from "../testing/test-postgres.js";
import { threadAddress } from "../threads/thread-address.js";

const rain = { graphName: "poet", text: "Write about rain" };
const sum = { graphName: "chat", text: "First 6*7, then tell me" };
const trip = { graphName: "travel", text: "Plan a trip" };

describe("A run whose process was killed", () => {
  let postgres: TestPostgres;
  let program: ChildProgram;
  let scene: ServiceScene;

  beforeAll(async () => {
    [postgres, program] = await Promise.all([
      openTestPostgres(),
      buildChildProgram(new URL("../testing/drive-until-killed.ts", import.meta.url)),
    ]);
    scene = await openServiceScene({
      store: { kind: "postgres", databaseUrl: postgres.url },
      reapEveryMs: 100,
    });
  });
  afterAll(async () => {
    await scene.close();
    program.remove();
    await postgres.close();
  });

  it.each([
    ["before its first checkpoint", rain, [], 1],
    ["mid-token", rain, ["TEXT_MESSAGE_CONTENT"], 4],
    ["mid-tool", sum, ["TOOL_CALL_END"], 1],
    ["mid-subgraph", trip, ["STEP_STARTED", "flights_agent/"], 1],
    ["while it asked", trip, ["on_interrupt"], 1],
  ] satisfies [string, { graphName: string; text: string }, string[], number][])(
    "%s is taken up here and ends once, with what its checkpoint holds",
    async (_, { graphName, text }, moment, count) => {
      const order: KillOrder = {
        databaseUrl: postgres.url,
        graphName,
        threadName: randomUUID(),
        messageId: randomUUID(),
        text,
        moment,
        count,
      };
      const child = program.start([JSON.stringify(order)], { THROUGHLINE_OFFLINE_PACE_MS: "8" });
      expect(await untilExit(child)).toBe("SIGKILL");
      const thread = threadAddress(ann, graphName, order.threadName);
      const [run] = await scene.service.registry.list(thread.ref, 1);
      const watching = scene.watch(thread, { kind: "run", runId: run?.runId ?? "" });
      expect(await watching.ended).toEqual({ reason: "done", runOpen: false });
      expect(watching.types().filter((type) => type === "RUN_FINISHED" || type === "RUN_ERROR")).toEqual([
        "RUN_FINISHED",
      ]);
      await expectCheckpoint(scene, thread, watching.frames);
      const later = scene.watch(thread, { kind: "nothing" });
      await later.ended;
      await expectCheckpoint(scene, thread, later.frames);
      expect(scene.failures).toEqual([]);
      if (graphName !== "travel") return;
      await vi.waitFor(async () =>
        expect(await scene.service.registry.openInterrupts(thread.ref)).toHaveLength(1),
      );
      const answered = await scene.service.runs.start(startRequest(thread, { kind: "answer", value: "KLM" }));
      expect(answered.kind).toBe("started");
    },
  );
});
