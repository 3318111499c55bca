import { describe, expect, it } from "vitest";
import { readAnswer } from "./read-answer.js";

const streamOf = (...frames: readonly string[]) => new Response(frames.join(""));
const frameOf = (event: object) => `data: ${JSON.stringify(event)}\n\n`;
const refusedWith = (error: object) =>
  streamOf(frameOf({ type: "RUN_STARTED", runId: "run-1" }), frameOf({ type: "RUN_ERROR", ...error }));

const began = frameOf({ type: "RUN_STARTED", runId: "run-1", metadata: { throughline: { runId: "r" } } });

describe("A request for a run counts as", () => {
  it("refused when its stream says that another run is in the way, although that run is named", async () => {
    const details = { runId: "the run in the way", retryAfterMs: 500 };
    const busy = { code: "busy", metadata: { throughline: { hint: "Wait.", details } } };
    await expect(readAnswer(refusedWith(busy), true)).resolves.toBe("refused");
  });

  it("unknown when its stream says what passes", async () => {
    await expect(readAnswer(refusedWith({ code: "shutting_down" }), true)).resolves.toBe("unknown");
  });

  it("unknown when its stream is empty", async () => {
    await expect(readAnswer(streamOf(), true)).resolves.toBe("unknown");
  });

  it.each([true, false])(
    "accepted when its stream names the run it began (read to its end: %s)",
    async (reads) => {
      await expect(readAnswer(streamOf(began), reads)).resolves.toBe("accepted");
    },
  );

  it("accepted when its stream has a frame of the log", async () => {
    const frame = `id: e.1.0\ndata: ${JSON.stringify({ type: "RUN_STARTED" })}\n\n`;
    await expect(readAnswer(streamOf(frame), true)).resolves.toBe("accepted");
  });
});
