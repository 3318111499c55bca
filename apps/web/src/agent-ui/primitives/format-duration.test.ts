import { describe, expect, it } from "vitest";
import { formatDuration } from "./elapsed";

describe("formatDuration", () => {
  it.each([
    [-3, "<0.1 s"],
    [0.04, "<0.1 s"],
    [0.34, "0.3 s"],
    [9.96, "10.0 s"],
    [12.9, "12 s"],
    [60, "1 min"],
    [248, "4 min 8 s"],
    [7_500, "2 h 5 min"],
  ])("says %d seconds as %s", (seconds, words) => {
    expect(formatDuration(seconds)).toBe(words);
  });
});
