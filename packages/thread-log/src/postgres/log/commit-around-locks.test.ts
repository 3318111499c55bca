import { StoreOutage } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { newThread } from "../../conformance/log-scene.js";
import type { StoreAppend, StoreAppendResult } from "../../log/log-store.js";
import { commitAroundLocks } from "./append.js";

const failure = (code: string) => new StoreOutage(Object.assign(new Error(code), { code }));

const written: StoreAppendResult = {
  ok: true,
  epoch: "e",
  first: 1,
  last: 1,
  unfolded: { entries: 1, bytes: 1 },
  held: { entries: 1, bytes: 1 },
};

function appendTo(appendId: string): StoreAppend {
  return { thread: newThread(), token: 1n, appendId, entries: [] };
}

/** `threads`: whose row is held, as a look at the rows tells; `others`: whose run's row is, which it does not. */
function steps(code: string, threads: readonly string[], others: readonly string[] = []) {
  const batches: string[][] = [];
  const held = [...threads, ...others];
  return {
    batches,
    write: async (batch: readonly StoreAppend[]) => {
      const ids = batch.map(({ appendId }) => appendId);
      batches.push(ids);
      if (ids.some((id) => held.includes(id))) throw failure(code);
      return batch.map(() => written);
    },
    findLocked: async (batch: readonly StoreAppend[]) =>
      new Set(batch.filter(({ appendId }) => threads.includes(appendId))),
  };
}

describe("a commit around locks", () => {
  const batch = ["a", "b", "c"].map(appendTo);
  const locked = { ok: false, reason: "locked" };

  it.each(["55P03", "40P01"])(
    "writes the threads that are free in one more statement, after %s",
    async (code) => {
      const around = steps(code, ["b"]);
      expect(await commitAroundLocks(around, batch)).toEqual([written, locked, written]);
      expect(around.batches).toEqual([
        ["a", "b", "c"],
        ["a", "c"],
      ]);
    },
  );

  it("finds by trying each what waits for another row than its thread's", async () => {
    const around = steps("55P03", ["a"], ["c"]);
    expect(await commitAroundLocks(around, batch)).toEqual([locked, written, locked]);
    expect(around.batches).toEqual([["a", "b", "c"], ["b", "c"], ["b"], ["c"]]);
  });

  it("writes one by one when all rows are free by the time it looks", async () => {
    const around = steps("40P01", [], ["a"]);
    expect(await commitAroundLocks(around, batch)).toEqual([locked, written, written]);
  });

  it("passes on every other failure", async () => {
    const around = steps("57P01", ["a"]);
    await expect(commitAroundLocks(around, batch)).rejects.toBeInstanceOf(StoreOutage);
    expect(around.batches).toHaveLength(1);
  });
});
