import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { filesBelow, fingerprint } from "./fingerprint.mjs";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "throughline-fingerprint-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function write(path: string, text: string) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

const ofAll = () => fingerprint(folder, filesBelow(folder, "src"));

test("the files of a folder come sorted, without installed packages, and none of a missing folder", () => {
  write("src/b.ts", "");
  write("src/a/c.ts", "");
  write("src/node_modules/x/index.js", "");
  expect(filesBelow(folder, "src")).toEqual(["src/a/c.ts", "src/b.ts"]);
  expect(filesBelow(folder, "dist")).toEqual([]);
});

test("the same files have the same fingerprint, whenever they were written", () => {
  write("src/a.ts", "one");
  const before = ofAll();
  write("src/a.ts", "one");
  expect(ofAll()).toBe(before);
});

test.each([
  ["a change of content", () => write("src/a.ts", "two")],
  ["a new file", () => write("src/b.ts", "")],
  ["a lost file", () => rmSync(join(folder, "src/a.ts"))],
])("%s changes the fingerprint", (_, change) => {
  write("src/a.ts", "one");
  const before = ofAll();
  change();
  expect(ofAll()).not.toBe(before);
});

test("text that moves from one file to the next changes the fingerprint", () => {
  write("src/a.ts", "ab");
  write("src/b.ts", "c");
  const before = ofAll();
  write("src/a.ts", "a");
  write("src/b.ts", "bc");
  expect(ofAll()).not.toBe(before);
});
