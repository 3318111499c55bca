import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { filesWithOwnProcess, needsOwnProcess } from "./own-process.mjs";

test.each([
  'vi.mock("./model.js");',
  'process.on("unhandledRejection", keep);',
  "process.chdir(folder);",
  'process.env.KEY = "a";',
  'process.env["KEY"] ??= "a";',
  "delete process.env.KEY;",
  "trace.setGlobalTracerProvider(provider);",
  "const { heapUsed } = process.memoryUsage();",
])("a test file with %s gets a process of its own", (source) => {
  expect(needsOwnProcess(source)).toBe(true);
});

test.each([
  'vi.stubEnv("KEY", "a");',
  'vi.spyOn(console, "error");',
  "const { KEY } = process.env;",
  'if (process.env.KEY === "1") update();',
  'server.process.kill("SIGKILL");',
])("a test file with %s shares one", (source) => {
  expect(needsOwnProcess(source)).toBe(false);
});

test("only test files count, and none that is built or a fixture", () => {
  const folder = mkdtempSync(join(tmpdir(), "throughline-own-process-"));
  try {
    for (const path of ["src/a.test.ts", "src/b.ts", "src/dist/c.test.ts", "src/fixtures/d.test.ts"]) {
      mkdirSync(join(folder, path, ".."), { recursive: true });
      writeFileSync(join(folder, path), 'vi.mock("./model.js");');
    }
    expect(filesWithOwnProcess(folder, ["src"])).toEqual(["src/a.test.ts"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
