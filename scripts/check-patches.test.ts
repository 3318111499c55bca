import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { patchedDependencies, patchProblem } from "./check-patches.mjs";
import { workspacePackages } from "./workspace-packages.mjs";

const yaml = readFileSync(new URL("../pnpm-workspace.yaml", import.meta.url), "utf8");

test("every patch of the workspace is for the version that the workspace installs", () => {
  const patched = patchedDependencies(yaml);
  expect(patched).toContainEqual({
    name: "@ag-ui/langgraph",
    version: "0.0.43",
    patch: "patches/@ag-ui__langgraph@0.0.43.patch",
  });
  expect(patchProblem(patched, workspacePackages())).toBeUndefined();
});

test("a new version of a patched package is refused with what to do", () => {
  const problem = patchProblem(patchedDependencies(yaml), [
    { folder: "e2e", manifest: { devDependencies: { "@ag-ui/langgraph": "0.0.44" } } },
  ]);
  expect(problem).toContain("e2e/package.json wants @ag-ui/langgraph 0.0.44");
  expect(problem).toContain("docs/stock.md");
});
