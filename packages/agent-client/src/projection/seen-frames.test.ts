import { describe, expect, it } from "vitest";
import { addSeen, isSeen, noRecentFrames } from "./agent-projection-reducer.js";

const cursors = (count: number) => Array.from({ length: count }, (_, index) => `cursor-${index}`);

describe("frames that were seen", () => {
  it("are known again, and no others are", () => {
    const seen = cursors(3).reduce(addSeen, noRecentFrames);
    expect(cursors(5).map((id) => isSeen(seen, id))).toEqual([true, true, true, false, false]);
  });

  it("are not known to a value from before they came", () => {
    const before = addSeen(noRecentFrames, "cursor-0");
    const after = addSeen(before, "cursor-1");
    expect([isSeen(before, "cursor-1"), isSeen(after, "cursor-1")]).toEqual([false, true]);
    expect(isSeen(noRecentFrames, "cursor-0")).toBe(false);
  });

  it("are its own for a value that is taken up again after another went on from it", () => {
    const before = addSeen(noRecentFrames, "common");
    const left = addSeen(before, "left");
    const right = addSeen(addSeen(before, "right"), "left");
    expect(["common", "left", "right"].map((id) => isSeen(left, id))).toEqual([true, true, false]);
    expect(["common", "left", "right"].map((id) => isSeen(right, id))).toEqual([true, true, true]);
  });

  it("are the last 64 at least, and never many more", () => {
    let seen = noRecentFrames;
    for (const [index, id] of cursors(1_000).entries()) {
      seen = addSeen(seen, id);
      const last = cursors(index + 1).slice(-64);
      expect(last.every((one) => isSeen(seen, one))).toBe(true);
      expect(seen.count).toBeLessThanOrEqual(128);
    }
  });
});
