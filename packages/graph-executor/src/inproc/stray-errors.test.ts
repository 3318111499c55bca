import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { failRunOfUnhandledError } from "./run.js";

const PROGRAM = fileURLToPath(new URL("./testing/stray-program.ts", import.meta.url));

describe("A process whose graphs leave errors unhandled", () => {
  it("fails the runs they came from, and no other, and lives on", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ["--import", "tsx", PROGRAM], {
      cwd: fileURLToPath(new URL("../..", import.meta.url)),
    });
    const { ended, foreign } = JSON.parse(stdout);
    for (const name of ["rejection", "late", "timer", "tick", "emitter"]) {
      expect([name, ended[name]]).toEqual([
        name,
        { status: "error", code: "run_failed", message: "The graph left an error unhandled.", cause: name },
      ]);
    }
    expect(ended.fine).toEqual({ status: "success" });
    expect(foreign).toEqual(["of no run"]);
  });

  it("is told that an error belongs to no run", () => {
    expect(failRunOfUnhandledError(new Error("of no run"))).toBe(false);
  });
});
