import { describe, expect, it } from "vitest";
import { progressOf } from "./progress";
import { lastReported } from "./run-work";

describe("progressOf", () => {
  it.each([
    ["Reading", { words: "Reading" }],
    [
      { note: "Looking at disks", step: 1, of: 4 },
      { words: "Looking at disks, 1 of 4", share: 0.25 },
    ],
    [
      { message: "Half way", percent: 50 },
      { words: "Half way", share: 0.5 },
    ],
    [{ progress: 0.2 }, { words: "Working", share: 0.2 }],
    [
      { step: 7, total: 4 },
      { words: "7 of 4", share: 1 },
    ],
    [{ other: true }, undefined],
    [[1, 2], undefined],
    [undefined, undefined],
  ])("reads %j", (told, meant) => {
    expect(progressOf(told)).toEqual(meant);
  });
});

describe("lastTold", () => {
  const started = { at: 0, event: { type: "RUN_STARTED", threadId: "t", runId: "r" } } as const;
  const told = (name: string, note: string) =>
    ({ at: 0, event: { type: "CUSTOM", name, value: { note } } }) as const;

  it("is the newest of the run under way", () => {
    expect(lastReported([started, told("progress", "one"), told("progress", "two")])).toEqual({
      note: "two",
    });
  });

  it("is nothing of an earlier run, and nothing of the service's own events", () => {
    expect(
      lastReported([told("progress", "old"), started, told("throughline.warning", "no")]),
    ).toBeUndefined();
  });
});
