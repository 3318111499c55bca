import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, matchesGlob } from "node:path";
import { expect, test } from "vitest";
import config from "../vitest.config.ts";
import { root } from "./workspace-packages.mjs";

// As in a container's build, which has no git and runs no tests.
const hasGit = existsSync(join(root, ".git"));

test("npm test runs every file that is named as one of its tests", () => {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "*.test.ts", "*.test.tsx"];
  const files = hasGit ? execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim().split("\n") : [];
  const { include = [], exclude = [] } = config.test ?? {};
  const isOf = (globs: readonly string[]) => (file: string) => globs.some((glob) => matchesGlob(file, glob));
  // A template's tests are those of the projects that are made of it.
  const others = [...exclude, "packages/*/template/**"];
  const tests = files.filter((file) => existsSync(join(root, file)) && !isOf(others)(file));
  expect(tests.length > 0).toBe(hasGit);
  expect(tests.filter((file) => !isOf(include)(file))).toEqual([]);
});
