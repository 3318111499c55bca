import { expect, test } from "vitest";
import { buildInputs, dependencyNames } from "./ensure-built.mjs";

test("tests are no input of a build, everything else is", () => {
  const files = ["src/index.ts", "src/index.test.ts", "src/part.test.tsx", "src/test.ts", "package.json"];
  expect(buildInputs(files)).toEqual(["src/index.ts", "src/test.ts", "package.json"]);
});

test("a package is built after everything its manifest names, however it names it", () => {
  const manifest = { dependencies: { a: "1" }, devDependencies: { b: "1" }, peerDependencies: { c: "1" } };
  expect(dependencyNames({ name: "x", folder: "packages/x", manifest })).toEqual(["a", "b", "c"]);
});
