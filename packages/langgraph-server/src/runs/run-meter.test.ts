import { afterEach, describe, expect, it, vi } from "vitest";
import { DEFAULT_LIMITS } from "../accounts/limits.js";
import { openServiceScene, type ServiceScene } from "../testing/service-scene.js";
import { createRunMeter } from "./run-recorder.js";

const token = (text: string) =>
  ({
    type: "llm_token",
    ts: 1,
    trace_id: "t",
    run_id: "r",
    thread_id: "t",
    attempt: 0,
    parent_id: null,
    call_id: "c",
    seq: 1,
    origin: "live",
    agent: "a",
    payload: { message_id: "m", text },
  }) as const;

describe("What a run writes", () => {
  it("is bounded in events", () => {
    const meter = createRunMeter({ maxEventsPerRun: 3, maxBytesPerRun: 1e9 });
    expect(meter([token("a"), token("b"), token("c")])).toBeUndefined();
    expect(meter([token("d")])).toMatchObject({
      code: "too_large",
      message: expect.stringContaining("maxEventsPerRun"),
      details: { limit: "maxEventsPerRun", max: 3 },
    });
  });

  it("is bounded in bytes, of tokens as of everything else", () => {
    const bounds = { maxEventsPerRun: 1e9, maxBytesPerRun: 2_000 };
    expect(createRunMeter(bounds)([token("é".repeat(700))])).toBeUndefined();
    expect(createRunMeter(bounds)([token("é".repeat(1_000))])).toMatchObject({ code: "too_large" });
    const state = {
      ...token(""),
      type: "state_snapshot",
      payload: { state: { x: "y".repeat(2_000) } },
    } as const;
    expect(createRunMeter(bounds)([state])).toMatchObject({ details: { limit: "maxBytesPerRun" } });
  });
});

describe("A run that writes more than it may", () => {
  let scene: ServiceScene;
  afterEach(() => scene.close());

  it("ends as too_large, with everything it began closed, and leaves its thread free", async () => {
    const limits = { ...DEFAULT_LIMITS, maxEventsPerRun: 3 };
    const limitsOf = () => limits;
    scene = await openServiceScene({ limitsOf });
    const thread = scene.thread("poet");
    const watching = await scene.run(thread, "Write about rain");
    expect(await watching.ended).toEqual({ reason: "done", runOpen: false });
    expect(watching.frames.at(-1)?.data).toMatchObject({
      type: "RUN_ERROR",
      code: "too_large",
      message: expect.stringMatching(/maxEventsPerRun: .* more than 3 events/),
    });
    expect(watching.types().filter((type) => type === "TEXT_MESSAGE_START")).toHaveLength(
      watching.types().filter((type) => type === "TEXT_MESSAGE_END").length,
    );
    // Its end is in the log a moment before it is in the registry.
    await vi.waitFor(async () =>
      expect(await scene.service.registry.list(thread.ref, 1)).toMatchObject([{ status: "error" }]),
    );
    expect(await scene.service.runs.active(thread)).toBeUndefined();
    expect(scene.failures).toEqual([]);
  });
});
