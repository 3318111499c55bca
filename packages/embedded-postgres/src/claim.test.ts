import { existsSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type ClaimEvidence, fileSystemNow, judgeClaim, renewClaim } from "./host-claim.js";
import { makeTempFolder, type TempFolder } from "./testing/temp-folder.js";

const here = { name: "one", space: "boot pid:[1]" };
const evidence: ClaimEvidence = { here, isRunning: false, ageMs: 0, hasBeaten: false };
const claimOf = (host: typeof here | undefined) => ({ pid: 7, started: "1", host });

describe("a claim on a folder", () => {
  it.each([
    ["of this host whose process runs", here, { isRunning: true, ageMs: 3_600_000 }, "alive"],
    ["of this host whose process ended", here, { isRunning: false, ageMs: 0 }, "dead"],
    ["from before hosts were told apart", undefined, { isRunning: true }, "alive"],
    [
      "of another container of this machine, whatever runs here under its pid",
      { name: "two", space: "boot pid:[2]" },
      { isRunning: true, ageMs: 60_000 },
      "dead",
    ],
    [
      "of another machine that is young",
      { name: "two", space: "other pid:[1]" },
      { ageMs: 29_999 },
      "unsure",
    ],
    ["of another machine that is old", { name: "two", space: "other pid:[1]" }, { ageMs: 30_000 }, "dead"],
    [
      "of another machine that was written while we looked on",
      { name: "two", space: "other pid:[1]" },
      { ageMs: 60_000, hasBeaten: true },
      "alive",
    ],
    [
      "of a machine that came up again under its name",
      { name: "one", space: "later pid:[1]" },
      { isRunning: true, ageMs: 60_000 },
      "dead",
    ],
  ])("%s", (_, host, more, state) => {
    expect(judgeClaim(claimOf(host), { ...evidence, ...more })).toBe(state);
  });

  describe("as a file", () => {
    let folder: TempFolder;
    let path: string;
    beforeEach(() => {
      folder = makeTempFolder();
      path = join(folder.path, "claim");
    });
    afterEach(() => folder.remove());

    it("is written again and again while it is kept, and says the same", async () => {
      writeFileSync(path, "7 1");
      utimesSync(path, 1, 1);
      const stop = renewClaim(path, () => {}, 5);
      await vi.waitUntil(() => statSync(path).mtimeMs > 1_000);
      expect(readFileSync(path, "utf8")).toBe("7 1");
      stop();
      utimesSync(path, 1, 1);
      expect(statSync(path).mtimeMs).toBe(1_000);
    });

    it("is not made anew when it is gone: its holder is told, as long as it is", async () => {
      writeFileSync(path, "7");
      const onMissing = vi.fn();
      const stop = renewClaim(path, onMissing, 5);
      rmSync(path);
      await vi.waitUntil(() => onMissing.mock.calls.length > 1);
      expect(existsSync(path)).toBe(false);
      stop();
    });

    it("is as old as the file system says", () => {
      writeFileSync(path, "7 1");
      const { mtimeMs } = statSync(path);
      expect(Math.abs(fileSystemNow(path) - mtimeMs)).toBeLessThan(10_000);
    });
  });
});
