import { createSimulatedClock } from "@throughline/ai-core";
import { describe, expect, it, vi } from "vitest";
import { createRunFiles } from "./run-attachments.js";

const KIB = 1_024;

/** Threads whose files are named by their size: `a/10` has one of 10 KiB. */
function open(perRun: number, inRuns: number) {
  const clock = createSimulatedClock(0);
  let reading = 0;
  const files = createRunFiles({
    store: {
      heldBytes: async ({ threadId }) => Number(threadId.split("/")[1]) * KIB,
      async open(_, id) {
        const bytes = Number(id) * KIB;
        const attachment = { id, mimeType: "image/png", filename: undefined, bytes, createdAt: 0 };
        return {
          attachment,
          async *read() {
            reading += 1;
            for (let at = 0; at < bytes; at += KIB) yield Buffer.alloc(KIB);
          },
        };
      },
    },
    limits: { maxAttachmentBytesPerRun: perRun * KIB, maxAttachmentBytesInRuns: inRuns * KIB },
    keeper: { keep: async () => undefined },
    clock,
    signal: new AbortController().signal,
    patienceMs: 1_000,
  });
  const read = (threadId: string, id: string) =>
    files.readAttachment({ caller: { billingAccountId: "acme" }, threadId }, id);
  return { clock, files, read, reads: () => reading };
}

describe("Files that graphs hold", () => {
  it("are given up to what a run may hold, a file that is read again counting once", async () => {
    const { read } = open(10, 100);
    expect(await read("a/50", "6")).toHaveLength(6 * KIB);
    expect(await read("a/50", "6")).toHaveLength(6 * KIB);
    expect(await read("a/50", "5")).toBe("too_large");
    expect(await read("a/50", "4")).toHaveLength(4 * KIB);
  });

  it("wait where all runs together hold enough, and come when one of them ends", async () => {
    const { files, read, reads } = open(10, 15);
    await read("a/10", "10");
    const second = read("b/10", "10");
    const third = read("c/2", "2");
    await vi.waitFor(() => expect(reads()).toBe(1));
    files.release("a/10");
    expect(await second).toHaveLength(10 * KIB);
    expect(await third).toHaveLength(2 * KIB);
  });

  it("fail their run with the limit's name where none ends in time", async () => {
    const { clock, read } = open(10, 10);
    await read("a/10", "10");
    const second = read("b/5", "5");
    const refused = expect(second).rejects.toMatchObject({
      code: "rate_limited",
      details: { limit: "maxAttachmentBytesInRuns" },
    });
    await vi.waitFor(() => expect(clock.pending()).toBe(1));
    clock.advance(1_000);
    await refused;
  });
});
