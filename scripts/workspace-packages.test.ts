import { expect, test } from "vitest";
import { workspacePackages, workspacePatterns } from "./workspace-packages.mjs";

test("the workspace's patterns are read with and without quotes, comments between them, nothing after them", () => {
  const yaml = [
    "packages:",
    "  - packages/*",
    '  - "bench"',
    "  # not yet",
    "  - e2e # whole system",
    "",
    "onlyBuiltDependencies:",
    "  - esbuild",
    "",
  ].join("\n");
  expect(workspacePatterns(yaml)).toEqual(["packages/*", "bench", "e2e"]);
});

test("a package is found by its folder and known by its name", () => {
  const names = new Map(workspacePackages().map(({ folder, name }) => [folder, name]));
  expect(names.get("packages/ai-core")).toBe("@throughline/ai-core");
});
