import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { testSeed } from "./test-seed.mjs";

describe("testSeed", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "throughline-seed-"));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  function git(...args: string[]): void {
    const settings = ["user.name=a", "user.email=a@example.com", "commit.gpgsign=false"];
    execFileSync("git", [...settings.flatMap((one) => ["-c", one]), ...args], { cwd: folder });
  }

  function commit(content: string, message = content): number {
    writeFileSync(join(folder, "file"), content);
    git("add", ".");
    git("commit", "--quiet", "--message", message);
    return testSeed(folder);
  }

  it("is the same for the same content, whatever the commit is called, and another for another", () => {
    git("init", "--quiet");
    const first = commit("a");
    expect(commit("b")).not.toBe(first);
    expect(commit("a", "called otherwise")).toBe(first);
  });

  it("is a number that can be counted on from without leaving 32 bits", () => {
    git("init", "--quiet");
    for (const content of ["c", "d", "e", "f"]) {
      const seed = commit(content);
      expect(Number.isInteger(seed)).toBe(true);
      expect(seed).toBeGreaterThanOrEqual(0);
      expect(seed).toBeLessThan(2 ** 31);
    }
  });

  it("is fixed where nothing is committed", () => {
    expect(testSeed(folder)).toBe(1);
  });
});
