import { StoreOutage } from "@throughline/ai-core";
import { afterEach, expect, it, vi } from "vitest";
import { ofType } from "../testing/frame-recorder.js";
import { openServiceScene, type ServiceScene, startRequest } from "../testing/service-scene.js";

let scene: ServiceScene;
afterEach(() => {
  vi.restoreAllMocks();
});

it("An instance that closes while its stores are away ends all the same, and ends no run", async () => {
  scene = await openServiceScene();
  const { service } = scene;
  const thread = scene.thread("poet");
  const outcome = await service.runs.start(startRequest(thread, "Write about rain"));
  if (outcome.kind !== "started") throw new Error(outcome.kind);
  const watching = scene.watch(thread, { kind: "run", runId: outcome.run.runId, isNew: true });
  await watching.frame(ofType("RUN_STARTED"));
  // From here on nothing that is asked of a store is answered.
  const away = () => Promise.reject(new StoreOutage("away"));
  vi.spyOn(service.log, "append").mockReturnValue(new Promise(() => {}));
  vi.spyOn(service.registry, "release").mockImplementation(away);
  vi.spyOn(service.registry, "stop").mockImplementation(away);
  await service.close({ drainMs: 0 });
  expect(watching.types()).not.toContain("RUN_FINISHED");
  expect(await watching.ended).toMatchObject({ reason: "shutting_down" });
});
