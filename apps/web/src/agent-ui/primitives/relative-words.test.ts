import { expect, it } from "vitest";
import { formatRelativeTime, wordsChangeAfter } from "./time";

const NOW = Date.UTC(2026, 5, 15, 12);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

it.each([
  [0, "now"],
  [9_999, "now"],
  [10_000, "10 s"],
  [59_999, "59 s"],
  [5 * MINUTE + 59_000, "5 min"],
  [23 * HOUR, "23 h"],
  [6 * DAY, "6 d"],
])("%i ms ago is %s", (ago, words) => {
  expect(formatRelativeTime(NOW - ago, NOW)).toBe(words);
});

it.each([
  [100, "now"],
  [501, "in 1 s"],
  [9_500, "in 10 s"],
  [90_000, "in 2 min"],
  [3 * HOUR, "in 3 h"],
])("what is %i ms ahead is %s, and never has nothing left", (ahead, words) => {
  expect(formatRelativeTime(NOW + ahead, NOW)).toBe(words);
});

it("is a date once it is a week away", () => {
  expect(formatRelativeTime(NOW - 8 * DAY, NOW)).toMatch(/Jun/);
});

it("is looked at every second only while seconds show", () => {
  expect(wordsChangeAfter(NOW - 30_000, NOW)).toBe(1_000);
  expect(wordsChangeAfter(NOW - HOUR, NOW)).toBeGreaterThan(1_000);
  expect(wordsChangeAfter(NOW - 2 * DAY, NOW)).toBeGreaterThan(MINUTE);
});
