import { describe, expect, it } from "vitest";
import { openFreezingScenes } from "../testing/freezing-scenes.js";
import { startRequest } from "../testing/service-scene.js";
import { expectCheckpoint } from "../testing/shown-thread.js";
import type { RunInput } from "../threads/run-spec.js";

/** Runs the inputs in turn; the last one hangs after so many chunks and is taken up by another instance. */
async function takeOverAfter(
  chunks: number,
  graphName: string,
  inputs: readonly (RunInput | string)[],
): Promise<boolean> {
  const scenes = await openFreezingScenes(chunks);
  const { a, b } = scenes;
  try {
    const thread = b.thread(graphName);
    for (const input of inputs.slice(0, -1)) await b.run(thread, input);
    const outcome = await a.service.runs.start(startRequest(thread, inputs.at(-1) ?? ""));
    if (outcome.kind !== "started") throw new Error(outcome.kind);
    const { runId } = outcome.run;
    const watching = b.watch(thread, { kind: "nothing" });
    const isFrozen = await scenes.takeOver(runId);
    await watching.ended;
    await expectCheckpoint(b, thread, watching.frames);
    const later = b.watch(thread, { kind: "run", runId });
    await later.ended;
    expect(later.types().filter((type) => type === "RUN_FINISHED" || type === "RUN_ERROR")).toEqual([
      "RUN_FINISHED",
    ]);
    const idle = b.watch(thread, { kind: "nothing" });
    await idle.ended;
    await expectCheckpoint(b, thread, idle.frames);
    expect(b.failures).toEqual([]);
    return isFrozen;
  } finally {
    await scenes.close();
  }
}

describe("A run that hangs after any chunk is taken up, and shows what its checkpoint holds:", () => {
  it.each([
    ["tools", "chat", ["First 6*7, then tell me"], 4],
    ["a second turn", "poet", ["Write about rain", "Write about snow"], 9],
    ["subgraphs and a question", "travel", ["Plan a trip"], 3],
    ["an answer", "travel", ["Plan a trip", { kind: "answer", value: "KLM" }], 3],
    ["subagents", "researcher", ["Research tides"], 83],
  ] satisfies [string, string, (RunInput | string)[], number][])(
    "%s",
    async (_, graphName, inputs, step) => {
      let chunks = 0;
      while (await takeOverAfter(chunks, graphName, inputs)) chunks += step;
      expect(chunks).toBeGreaterThan(step);
    },
    120_000,
  );
});
