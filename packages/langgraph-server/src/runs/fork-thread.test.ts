import { systemClock } from "@throughline/ai-core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openServiceScene, type ServiceScene } from "../testing/service-scene.js";
import { type ForkDeps, forkThread } from "./edit-thread.js";

describe("A fork", () => {
  let scene: ServiceScene;
  beforeEach(async () => {
    scene = await openServiceScene();
  });
  afterEach(() => scene.close());

  it("that fails in the middle leaves nothing, and its name can be taken", async () => {
    const { service } = scene;
    const [from, to] = [scene.thread("chat"), scene.thread("chat")];
    await scene.run(from, "What is 2 + 2?");
    const checkpoint = await service.threads.state(from);
    const deps: ForkDeps = {
      registry: service.registry,
      state: service.state,
      runs: service.runs,
      directory: service.directory,
      attachments: service.attachments,
      said: { note() {} },
      clock: systemClock,
      lease: { owner: "forker", leaseMs: 15_000 },
    };
    const copied: ForkDeps["state"]["copyThread"] = async (...copy) => {
      await service.state.copyThread(...copy);
      throw new Error("The database went away.");
    };
    const fork = { from, checkpointId: checkpoint.checkpointId, to };
    await expect(forkThread({ ...deps, state: { ...deps.state, copyThread: copied } }, fork)).rejects.toThrow(
      "went away",
    );
    await expect(service.threads.get(to)).rejects.toMatchObject({ code: "not_found" });
    await expect(service.threads.state(to)).rejects.toMatchObject({ code: "not_found" });
    await forkThread(deps, fork);
    expect((await service.threads.state(to)).messages).toEqual(checkpoint.messages);
  });
});
