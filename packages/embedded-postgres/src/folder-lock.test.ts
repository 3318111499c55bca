import { existsSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { lockFolder, tryLockFolder } from "./host-claim.js";
import { makeTempFolder, type TempFolder } from "./testing/temp-folder.js";

let folder: TempFolder;
let path: string;

beforeEach(() => {
  folder = makeTempFolder();
  path = join(folder.path, "lock");
});
afterEach(() => folder.remove());

describe("a folder's lock", () => {
  it("is held by one at a time", async () => {
    let inside = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        const lock = await lockFolder(path);
        most = Math.max(most, ++inside);
        await new Promise((resolve) => setImmediate(resolve));
        inside--;
        lock.release();
      }),
    );
    expect(most).toBe(1);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it("is not given to a second comer, who is told the holder's pid", async () => {
    const lock = tryLockFolder(path);
    expect(lock).toBeDefined();
    expect(tryLockFolder(path)).toBeUndefined();
    await expect(lockFolder(path, { timeoutMs: 0 })).rejects.toThrow(
      `Process ${process.pid} on ${hostname()} holds`,
    );
    lock?.release();
    expect(existsSync(path)).toBe(false);
  });

  it.each([
    ["that no longer runs", "4194304 1"],
    ["whose pid was given to another", `${process.pid} 1`],
    ["that nobody can read", "?"],
  ])("is taken over from a holder %s", (_, claim) => {
    writeFileSync(path, claim);
    const lock = tryLockFolder(path);
    expect(lock).toBeDefined();
    lock?.release();
  });

  it("is not taken from another host whose pid means nothing here, until that stands still", () => {
    writeFileSync(path, "4194304 1");
    writeFileSync(`${path}.host-4194304-1`, JSON.stringify({ name: "elsewhere", space: "another" }));
    expect(tryLockFolder(path)).toBeUndefined();
    const aMinuteAgo = Date.now() / 1_000 - 60;
    utimesSync(path, aMinuteAgo, aMinuteAgo);
    const lock = tryLockFolder(path);
    expect(lock).toBeDefined();
    lock?.release();
    expect(readdirSync(folder.path)).toEqual([]);
  });
});
