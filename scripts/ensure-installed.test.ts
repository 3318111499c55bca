import { expect, test } from "vitest";
import { levelToInstall } from "./ensure-installed.mjs";

test("an empty tree gets what was asked for", () => {
  expect(levelToInstall({ wanted: "run", present: undefined, upToDate: false })).toBe("run");
  expect(levelToInstall({ wanted: "all", present: undefined, upToDate: false })).toBe("all");
});

test("a tree that has what was asked for and did not change is left alone", () => {
  expect(levelToInstall({ wanted: "run", present: "run", upToDate: true })).toBeUndefined();
  expect(levelToInstall({ wanted: "all", present: "all", upToDate: true })).toBeUndefined();
});

test("a full tree serves a start as it is", () => {
  expect(levelToInstall({ wanted: "run", present: "all", upToDate: true })).toBeUndefined();
});

test("a full tree stays full when a start has to install", () => {
  expect(levelToInstall({ wanted: "run", present: "all", upToDate: false })).toBe("all");
});

test("a tree made for running is completed for tests", () => {
  expect(levelToInstall({ wanted: "all", present: "run", upToDate: true })).toBe("all");
});
