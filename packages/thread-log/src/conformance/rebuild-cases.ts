import { expect } from "vitest";
import type { Rebuilt } from "../log/maintenance.js";
import { readProjection } from "../log/snapshots.js";
import type { ThreadLog } from "../log/thread-log.js";
import type { ThreadRef } from "../thread-ref.js";
import { eventually } from "./eventually.js";
import { fenceOf, type LogCase, notes, textFold, write } from "./log-scene.js";

const LETTERS = ["a", "b", "c", "d", "e", "f"];
/** A fold that can't read what `textFold` wrote. */
const newFold: typeof textFold = {
  ...textFold,
  version: 8,
  reads: [8],
  decode: (snapshot, version) => (version === 8 ? textFold.decode(snapshot, 7) : undefined),
};
/** A fold that can. */
const readingFold: typeof textFold = {
  ...newFold,
  reads: [7, 8],
  decode: (snapshot, version) => (version === 7 || version === 8 ? textFold.decode(snapshot, 7) : undefined),
};

/** Six entries, of which the first four are only in a snapshot of version 7. */
async function writeTrimmed(log: ThreadLog, thread: ThreadRef): Promise<void> {
  await write(log, thread, LETTERS);
  expect(await log.trim(thread, { maxEntries: 2 })).toMatchObject({ floor: 5 });
}

export const rebuildCases: readonly LogCase[] = [
  {
    name: "R20: folds on from a snapshot of an older version that it can read, and saves its own version then",
    async run({ another, thread }) {
      await writeTrimmed(await another({ fold: textFold }), thread);
      const log = await another({ fold: readingFold });
      expect(await readProjection(log, readingFold, thread)).toMatchObject({
        kind: "folded",
        state: LETTERS,
      });
      await log.append(thread, notes(thread, "g"), fenceOf(thread, 1));
      const loaded = await log
        .follow(thread, { foldVersions: readingFold.reads })
        [Symbol.asyncIterator]()
        .next();
      expect(loaded.value).toMatchObject({
        kind: "loaded",
        snapshot: { foldVersion: 7, position: { seq: 6 }, state: LETTERS },
        head: { seq: 7 },
      });
      expect(await log.trim(thread, { maxEntries: 0 })).toMatchObject({ floor: 8 });
      const whole = [...LETTERS, "g"];
      expect(await log.snapshot(thread, [8])).toMatchObject({ foldVersion: 8, state: whole });
      expect(await readProjection(log, readingFold, thread)).toMatchObject({ state: whole });
    },
  },
  {
    name: "R20: of two snapshots at one seq takes that of the higher version",
    async run({ log, thread }) {
      await write(log, thread, LETTERS);
      const position = await log.head(thread);
      if (!position) return expect.unreachable();
      for (const foldVersion of [8, 7]) {
        expect(await log.saveSnapshot(thread, { position, foldVersion, state: foldVersion })).toBe(true);
      }
      expect(await log.snapshot(thread, [7, 8])).toMatchObject({ foldVersion: 8, state: 8 });
      expect(await log.snapshot(thread, [7])).toMatchObject({ foldVersion: 7, state: 7 });
      const loaded = await log
        .follow(thread, { foldVersions: [7, 8] })
        [Symbol.asyncIterator]()
        .next();
      expect(loaded.value).toMatchObject({ snapshot: { foldVersion: 8, state: 8 }, entries: [] });
    },
  },
  {
    name: "R20: a log that can't be folded is rebuilt before it is trimmed, once, and is folded as usual from then on",
    async run({ another, thread }) {
      await writeTrimmed(await another({ fold: textFold }), thread);
      let asked = 0;
      const log = await another({
        fold: newFold,
        async rebuild(ref): Promise<Rebuilt<string[]> | undefined> {
          asked += 1;
          const position = await log.head(ref);
          return position && { state: ["rebuilt"], position };
        },
      });
      expect(await readProjection(log, newFold, thread)).toMatchObject({ kind: "gap", reason: "trimmed" });
      expect(await log.trim(thread, { maxEntries: 1 })).toMatchObject({ floor: 6 });
      expect(await log.snapshot(thread, [8])).toMatchObject({ position: { seq: 6 }, state: ["rebuilt"] });
      await log.append(thread, notes(thread, "g", "h"), fenceOf(thread, 1));
      expect(await log.trim(thread, { maxEntries: 1 })).toMatchObject({ floor: 8 });
      expect(await readProjection(log, newFold, thread)).toMatchObject({ state: ["rebuilt", "g", "h"] });
      expect(asked).toBe(1);
    },
  },
  {
    name: "R20: a log that can't be folded is rebuilt when its next snapshot falls due, by two instances at once too",
    async run({ another, thread, log }) {
      await writeTrimmed(await another({ fold: textFold }), thread);
      const open = () =>
        another({
          fold: newFold,
          snapshots: { everyEntries: 5, everyBytes: 1e9 },
          rebuild: async (ref) => {
            const position = await log.head(ref);
            return position && { state: [`up to ${position.seq}`], position };
          },
        });
      const first = await open();
      const second = await open();
      for (const text of LETTERS) {
        await first.append(thread, notes(thread, text), fenceOf(thread, 1));
        await second.append(thread, notes(thread, text), fenceOf(thread, 1));
      }
      await eventually(async () => {
        const folded = await readProjection(second, newFold, thread);
        if (folded.kind !== "folded") return expect.unreachable("not yet");
        const [begin = "", ...rest] = folded.state;
        expect(Number(begin.slice("up to ".length)) + rest.length).toBe(18);
      });
    },
  },
  {
    name: "R20: what can't be rebuilt is told and not trimmed, and the sweep goes on",
    async run({ another, thread }) {
      await writeTrimmed(await another({ fold: textFold }), thread);
      const errors: unknown[] = [];
      const failure = new Error("its graph is gone");
      const log = await another({
        fold: newFold,
        rebuild: () => Promise.reject(failure),
        onError: (error) => void errors.push(error),
      });
      expect(await log.trim(thread, { maxEntries: 0 })).toEqual({ dropped: 0, floor: 5 });
      expect(errors).toEqual([failure]);
    },
  },
];
