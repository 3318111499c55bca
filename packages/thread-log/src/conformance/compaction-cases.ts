import type { LogEntry } from "@throughline/ai-core";
import { expect } from "vitest";
import type { ThreadLog } from "../log/thread-log.js";
import type { ThreadRef } from "../thread-ref.js";
import { eventually } from "./eventually.js";
import { fenceOf, type LogCase, nextEvent, note, notes, runEnd, textOf, textsOf } from "./log-scene.js";

/** Merges neighbours whose texts begin with the same letter: `a1 a2` becomes `a1a2` at the place of `a2`. */
function mergeByLetter(entries: readonly LogEntry[]): LogEntry[] {
  const merged: LogEntry[] = [];
  for (const entry of entries) {
    const before = merged.at(-1);
    const { envelope } = entry;
    if (before && envelope.type === "custom" && textOf(before)[0] === textOf(entry)[0]) {
      const payload = { ...envelope.payload, value: textOf(before) + textOf(entry) };
      merged[merged.length - 1] = { ...entry, envelope: { ...envelope, payload } };
    } else merged.push(entry);
  }
  return merged;
}

/** At once: what has ended is old enough. */
const compaction = { afterMs: -1_000, merge: mergeByLetter };

/** `a1 a2 a3 b1 b2 | c1 c2`, of which the first run has ended. Seqs 1–5, its end 6, then 7 and 8. */
async function writeRuns(log: ThreadLog, thread: ThreadRef): Promise<void> {
  const fence = fenceOf(thread, 1);
  await log.open(thread, fence);
  await log.append(thread, notes(thread, "a1", "a2", "a3", "b1", "b2"), fence);
  await log.append(thread, [runEnd(thread, "run-1")], fence);
  await log.append(thread, notes(thread, "c1", "c2"), fence);
}

/** Other cases share the database, and their threads may be compacted, too. */
async function compactAll(log: ThreadLog): Promise<number> {
  let dropped = 0;
  let after: string | undefined;
  do {
    const page = await log.compact({ after, limit: 2 });
    dropped += page.dropped;
    after = page.next;
  } while (after !== undefined);
  return dropped;
}

async function readPages(log: ThreadLog, thread: ThreadRef, limit: number): Promise<LogEntry[]> {
  const all: LogEntry[] = [];
  for (;;) {
    const answer = await log.read(thread, all.at(-1), limit);
    if (answer.kind !== "entries") throw new Error(`expected entries, got ${JSON.stringify(answer)}`);
    all.push(...answer.entries);
    if (all.at(-1)?.seq === answer.head?.seq) return all;
  }
}

const shown = (entries: readonly LogEntry[]) => entries.map((entry) => [entry.seq, textOf(entry)]);

export const compactionCases: readonly LogCase[] = [
  {
    name: "compacts what has ended, keeps the last seq of what it merges, and reads in pages of any size",
    async run({ another, thread }) {
      const log = await another({ compaction });
      await writeRuns(log, thread);
      expect(await compactAll(log)).toBeGreaterThanOrEqual(3);
      const left = [
        [3, "a1a2a3"],
        [5, "b1b2"],
        [6, "run_end"],
        [7, "c1"],
        [8, "c2"],
      ];
      for (const limit of [1, 2, 3, 100]) expect(shown(await readPages(log, thread, limit))).toEqual(left);
      expect(await log.terminal(thread, "run-1")).toMatchObject({ seq: 6 });
      expect(await log.head(thread)).toMatchObject({ seq: 8 });
      expect(await log.append(thread, notes(thread, "c3"), fenceOf(thread, 1))).toMatchObject({ first: 9 });
    },
  },
  {
    name: "compacts nothing that is too young or has not ended, nothing twice, and nothing without being asked to",
    async run({ log: without, another, thread }) {
      const patient = await another({ compaction: { ...compaction, afterMs: 3_600_000 } });
      await writeRuns(patient, thread);
      await compactAll(patient);
      expect(await without.compact()).toEqual({ dropped: 0, next: undefined });
      expect(await readPages(patient, thread, 100)).toHaveLength(8);
      const log = await another({ compaction });
      await compactAll(log);
      const once = await readPages(log, thread, 100);
      expect(once).toHaveLength(5);
      await compactAll(log);
      expect(await readPages(log, thread, 100)).toEqual(once);
      await log.append(thread, [runEnd(thread, "run-2")], fenceOf(thread, 1));
      await compactAll(log);
      expect(shown(await readPages(log, thread, 100)).slice(2)).toEqual([
        [6, "run_end"],
        [8, "c1c2"],
        [9, "run_end"],
      ]);
    },
  },
  {
    name: "R3: answers a cursor within what was merged with a gap, and any other with exactly what follows",
    async run({ another, thread }) {
      const log = await another({ compaction });
      await writeRuns(log, thread);
      await compactAll(log);
      const head = await log.head(thread);
      if (!head) return expect.unreachable();
      const { epoch } = head;
      const resumes = new Map([
        [1, 0],
        [2, 0],
        [4, 3],
      ]);
      for (let seq = 0; seq <= head.seq; seq++) {
        const answer = await log.read(thread, { epoch, seq });
        const tail = log.tail(thread, { epoch, seq })[Symbol.asyncIterator]();
        const resumeAt = resumes.get(seq);
        if (resumeAt !== undefined) {
          const gap = {
            kind: "gap",
            reason: "compacted",
            head,
            kept: [],
            resumeAt: { epoch, seq: resumeAt },
          };
          expect(answer).toEqual(gap);
          expect(await nextEvent(tail)).toEqual(gap);
          continue;
        }
        const follows = (await readPages(log, thread, 100)).filter((entry) => entry.seq > seq);
        expect(answer).toEqual({ kind: "entries", entries: follows, head });
        if (follows.length > 0) expect(await nextEvent(tail)).toEqual(answer);
        await tail.return?.();
      }
    },
  },
  {
    name: "R20: merges nothing across a snapshot, and takes none within what was merged",
    async run({ another, thread }) {
      const log = await another({ compaction });
      await writeRuns(log, thread);
      const epoch = (await log.head(thread))?.epoch ?? "";
      const at = (seq: number, foldVersion: number) => ({
        position: { epoch, seq },
        foldVersion,
        state: seq,
      });
      expect(await log.saveSnapshot(thread, at(2, 1))).toBe(true);
      await compactAll(log);
      expect(shown(await readPages(log, thread, 100)).slice(0, 3)).toEqual([
        [2, "a1a2"],
        [3, "a3"],
        [5, "b1b2"],
      ]);
      expect(await log.saveSnapshot(thread, at(4, 2))).toBe(false);
      expect(await log.saveSnapshot(thread, at(5, 2))).toBe(true);
      const loads = log.follow(thread, { foldVersions: [1] })[Symbol.asyncIterator]();
      const { value } = await loads.next();
      expect(value).toMatchObject({ kind: "loaded", snapshot: at(2, 1) });
      expect(value.kind === "loaded" && textsOf(value.entries)).toEqual([
        "a3",
        "b1b2",
        "run_end",
        "c1",
        "c2",
      ]);
      await loads.return?.();
    },
  },
  {
    name: "R20: trims merged entries as a whole, and goes on from the new floor",
    async run({ another, thread }) {
      const log = await another({ compaction });
      await writeRuns(log, thread);
      await compactAll(log);
      const head = await log.head(thread);
      if (!head) return expect.unreachable();
      await log.saveSnapshot(thread, { position: head, foldVersion: 1, state: null });
      expect(await log.trim(thread, { maxEntries: 4 })).toEqual({ dropped: 1, floor: 4 });
      const after = { epoch: head.epoch, seq: 3 };
      const answer = await log.read(thread, after);
      expect(answer.kind === "entries" && shown(answer.entries)[0]).toEqual([5, "b1b2"]);
      expect(await log.read(thread, { ...after, seq: 4 })).toMatchObject({
        kind: "gap",
        reason: "compacted",
        resumeAt: after,
      });
      expect(await log.read(thread, undefined)).toMatchObject({ kind: "gap", reason: "trimmed" });
      expect((await log.sweep({ maxAgeMs: -1_000 })).dropped).toBeGreaterThan(0);
    },
  },
  {
    name: "tells a live tail everything once while the log behind it is compacted",
    async run({ log: writer, another, thread }) {
      const compacting = await another({ compaction });
      const watcher = await another({ pollEveryMs: 20 });
      const fence = fenceOf(thread, 1);
      await writer.open(thread, fence);
      const told: LogEntry[] = [];
      const tail = watcher.tail(thread, undefined)[Symbol.asyncIterator]();
      const reading = (async () => {
        for (let run = 0; run < 10; ) {
          const event = await nextEvent(tail);
          // One that was slow to read a run may find it merged: that it is told.
          if (event?.kind !== "entries") return event;
          told.push(...event.entries);
          run = told.filter(({ envelope }) => envelope.type === "run_end").length;
        }
        return undefined;
      })();
      for (let run = 0; run < 10; run++) {
        await writer.append(thread, notes(thread, `${run}x`, `${run}y`, `${run}z`), fence);
        await writer.append(thread, [runEnd(thread, `run-${run}`)], fence);
        await compactAll(compacting);
      }
      const end = await reading;
      const text = told.map(textOf).join("");
      const all = Array.from({ length: 10 }, (_, run) => `${run}x${run}y${run}zrun_end`).join("");
      if (end === undefined) expect(text).toBe(all);
      else {
        expect(end).toMatchObject({ kind: "gap", reason: "compacted" });
        expect(all.startsWith(text)).toBe(true);
      }
      await tail.return?.();
    },
  },
  {
    name: "lets writers go on, and several instances compact at once",
    async run({ another, thread }) {
      const logs = [await another({ compaction }), await another({ compaction })] as const;
      const fence = fenceOf(thread, 1);
      await logs[0].open(thread, fence);
      const write = async () => {
        for (let run = 0; run < 12; run++) {
          await logs[0].append(thread, [note(thread, `${run % 10}x`), note(thread, `${run % 10}y`)], fence);
          await logs[0].append(thread, [runEnd(thread, `run-${run}`)], fence);
        }
      };
      await Promise.all([write(), ...logs.flatMap((log) => [compactAll(log), compactAll(log)])]);
      await eventually(async () => {
        await compactAll(logs[1]);
        expect(await readPages(logs[1], thread, 7)).toHaveLength(24);
      });
      const texts = (await readPages(logs[1], thread, 100)).map(textOf);
      expect(texts.filter((text) => text !== "run_end")).toEqual(
        Array.from({ length: 12 }, (_, run) => `${run % 10}x${run % 10}y`),
      );
    },
  },
];
