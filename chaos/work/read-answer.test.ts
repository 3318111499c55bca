import { describe, expect, it } from "vitest";
import { readAnswer } from "./read-answer.js";

const streamOf = (...frames: readonly string[]) => new Response(frames.join(""));
/** As the service says it: the run that was asked for has no name of the service's own. */
const BUSY = [
  { type: "RUN_STARTED", threadId: "room", runId: "run-1" },
  {
    type: "RUN_ERROR",
    code: "busy",
    message: "Another run is active in this thread.",
    metadata: { throughline: { details: { runId: "the run in the way", retryAfterMs: 500 } } },
  },
].map((event) => `data: ${JSON.stringify(event)}\n\n`);
const began = JSON.stringify({
  type: "RUN_STARTED",
  runId: "run-1",
  metadata: { throughline: { runId: "r" } },
});

describe("A request for a run counts as", () => {
  it("refused when its stream says that another run is in the way, although that run is named", async () => {
    await expect(readAnswer(streamOf(...BUSY), true)).resolves.toBe("refused");
  });

  it("unknown when its stream says what passes", async () => {
    const frame = `data: ${JSON.stringify({ type: "RUN_ERROR", code: "shutting_down" })}\n\n`;
    await expect(readAnswer(streamOf(frame), true)).resolves.toBe("unknown");
  });

  it("unknown when its stream is empty", async () => {
    await expect(readAnswer(streamOf(), true)).resolves.toBe("unknown");
  });

  it.each([true, false])(
    "accepted when its stream names the run it began (read to its end: %s)",
    async (reads) => {
      await expect(readAnswer(streamOf(`data: ${began}\n\n`), reads)).resolves.toBe("accepted");
    },
  );

  it("accepted when its stream has a frame of the log", async () => {
    const frame = `id: e.1.0\ndata: ${JSON.stringify({ type: "RUN_STARTED" })}\n\n`;
    await expect(readAnswer(streamOf(frame), true)).resolves.toBe("accepted");
  });
});
