import type { LogPosition } from "@throughline/ai-core";
import { expect } from "vitest";
import type { LogStore } from "../log/log-store.js";
import {
  fenceOf,
  type LogCase,
  nextEvent,
  notes,
  readAll,
  runEnd,
  take,
  textsOf,
  write,
} from "./log-scene.js";

/** What others got wrong; numbered as in the list this suite was drawn from. */
export const peerBugCases: readonly LogCase[] = [
  {
    name: "E1: publish between history read and live subscribe",
    async run({ log, another, store, over, thread }) {
      await write(log, thread, ["before"]);
      const elsewhere = await another();
      const fence = fenceOf(thread, 1);
      let interfered = false;
      // Whatever is committed after the history was read and before it arrives would fall between the two.
      const interfering: LogStore = {
        ...store,
        async read(requests, limit) {
          const ranges = await store.read(requests, limit);
          if (!interfered) {
            interfered = true;
            await watching.append(thread, notes(thread, "by this instance"), fence);
            await elsewhere.append(thread, notes(thread, "by another"), fence);
          }
          return ranges;
        },
      };
      const watching = over(interfering);
      const tail = watching.tail(thread, undefined)[Symbol.asyncIterator]();
      expect(textsOf(await take(tail, 3))).toEqual(["before", "by this instance", "by another"]);
      await tail.return?.();
    },
  },
  {
    name: "E2: reconnect cursor older than retention",
    async run({ log, thread }) {
      const fence = fenceOf(thread, 1);
      await write(log, thread, ["a", "b"]);
      await log.append(thread, [runEnd(thread, "run-1"), ...notes(thread, "c", "d")], fence);
      const head = await log.head(thread);
      if (!head) return expect.unreachable();
      await log.saveSnapshot(thread, { position: head, foldVersion: 1, state: null });
      await log.trim(thread, { maxEntries: 1 });
      const gap = { kind: "gap", reason: "trimmed", head, kept: [{ seq: 3, envelope: { type: "run_end" } }] };
      for (const after of [undefined, { ...head, seq: 0 }, { ...head, seq: 2 }]) {
        expect(await log.read(thread, after)).toMatchObject(gap);
        const tail = log.tail(thread, after)[Symbol.asyncIterator]();
        expect(await nextEvent(tail)).toMatchObject(gap);
        expect(await nextEvent(tail)).toBeUndefined();
      }
      expect(await log.read(thread, { ...head, seq: 3 })).toMatchObject({ kind: "gap", kept: [] });
      expect(await log.read(thread, { ...head, seq: 4 })).toMatchObject({ entries: [{ seq: 5 }] });
    },
  },
  {
    name: "E3: cursor from before a restart (epoch)",
    async run({ log, another, thread }) {
      await write(log, thread, ["a", "b", "c"]);
      const cursor = await log.head(thread);
      if (!cursor) return expect.unreachable();
      await log.close();
      const restarted = await another();
      // A restart is no loss: the cursor holds. A foreign epoch is one, and so is a position the log never reached.
      expect(await restarted.read(thread, { ...cursor, seq: 2 })).toMatchObject({ entries: [{ seq: 3 }] });
      for (const [after, reason] of [
        [{ epoch: "lost", seq: 1 }, "epoch"],
        [{ ...cursor, seq: 4 }, "ahead"],
      ] satisfies [LogPosition, string][]) {
        expect(await restarted.read(thread, after)).toMatchObject({ kind: "gap", reason, head: cursor });
        const tail = restarted.tail(thread, after)[Symbol.asyncIterator]();
        expect(await nextEvent(tail)).toMatchObject({ kind: "gap", reason });
        expect(await nextEvent(tail)).toBeUndefined();
      }
    },
  },
  {
    name: "E4: two events in one millisecond",
    async run({ log, thread }) {
      const fence = fenceOf(thread, 1);
      await log.open(thread, fence);
      const twins = notes(thread, "same", "same");
      expect(twins[0]).toEqual(twins[1]);
      await log.append(thread, twins, fence);
      const head = await log.head(thread);
      if (!head) return expect.unreachable();
      const between = await log.read(thread, { ...head, seq: 1 });
      expect(between).toMatchObject({ kind: "entries", entries: [{ seq: 2 }] });
    },
  },
  {
    name: "E5: two joiners on one run",
    async run({ log, another, thread }) {
      const other = await another();
      await write(log, thread, ["a", "b"]);
      const joiners = [log, log, other].map((each) => each.tail(thread, undefined)[Symbol.asyncIterator]());
      expect((await Promise.all(joiners.map((tail) => take(tail, 2)))).map(textsOf)).toEqual(
        joiners.map(() => ["a", "b"]),
      );
      const live = Promise.all(joiners.map((tail) => take(tail, 1)));
      await log.append(thread, notes(thread, "c"), fenceOf(thread, 1));
      expect((await live).map(textsOf)).toEqual(joiners.map(() => ["c"]));
      await Promise.all(joiners.map((tail) => tail.return?.()));
    },
  },
  {
    name: "E16: one upstream event → several frames, cut in the middle",
    async run({ log, thread }) {
      await write(log, thread, ["a", "b", "c"]);
      const frames = (entries: readonly LogPosition[]) =>
        entries.flatMap(({ epoch, seq }) => [1, 2, 3].map((frame) => ({ epoch, seq, frame })));
      const whole = await log.read(thread, undefined);
      if (whole.kind !== "entries") return expect.unreachable();
      const uncut = frames(whole.entries);
      // A reader that was cut inside an entry reads it again from the position before, and drops the frames it has.
      for (const [index, { epoch, seq, frame }] of uncut.entries()) {
        const rest = await log.read(thread, { epoch, seq: seq - 1 });
        if (rest.kind !== "entries") return expect.unreachable();
        const resumed = frames(rest.entries).filter((each) => each.seq > seq || each.frame > frame);
        expect([...uncut.slice(0, index + 1), ...resumed]).toEqual(uncut);
      }
    },
  },
  {
    name: "E17: filter change on reconnect",
    async run({ log, thread }) {
      await write(log, thread, ["text 1", "tool 1", "text 2", "tool 2", "text 3"]);
      const tail = log.tail(thread, undefined)[Symbol.asyncIterator]();
      const textOnly = (await take(tail, 5)).filter(({ envelope }) =>
        JSON.stringify(envelope).includes("text"),
      );
      await tail.return?.();
      const second = textOnly[1];
      if (!second) return expect.unreachable();
      // The position is the log's, not the filtered view's: under another filter nothing is skipped or repeated.
      const rest = await log.read(thread, { epoch: second.epoch, seq: second.seq });
      if (rest.kind !== "entries") return expect.unreachable();
      expect(textsOf(rest.entries)).toEqual(["tool 2", "text 3"]);
    },
  },
  {
    name: "E18: terminal event after log expiry",
    async run({ log, another, thread }) {
      const fence = fenceOf(thread, 1);
      await write(log, thread, ["a"]);
      await log.append(thread, [runEnd(thread, "run-1")], fence);
      const head = await log.head(thread);
      if (!head) return expect.unreachable();
      await log.saveSnapshot(thread, { position: head, foldVersion: 1, state: null });
      expect(await log.trim(thread, { maxAgeMs: -60_000 })).toEqual({ dropped: 1, floor: 3 });
      const later = await another();
      const terminal = { seq: 2, envelope: { type: "run_end", run_id: "run-1" } };
      expect(await later.terminal(thread, "run-1")).toMatchObject(terminal);
      expect(await later.terminal(thread, "run-2")).toBeUndefined();
      const tail = later.tail(thread, { ...head, seq: 1 })[Symbol.asyncIterator]();
      expect(await nextEvent(tail)).toMatchObject({ kind: "gap", reason: "trimmed", kept: [terminal] });
      const current = later.tail(thread, head)[Symbol.asyncIterator]();
      await log.append(thread, notes(thread, "next"), fence);
      expect(textsOf(await take(current, 1))).toEqual(["next"]);
      await current.return?.();
    },
  },
  {
    name: "E22: a position of the start, of another log, or further than any",
    async run({ log, thread }) {
      await write(log, thread, ["a", "b"]);
      const head = await log.head(thread);
      if (!head) return expect.unreachable();
      const answer = async (after: LogPosition | undefined) => {
        const read = await log.read(thread, after);
        return read.kind === "entries"
          ? textsOf(read.entries)
          : read.kind === "gap"
            ? read.reason
            : read.kind;
      };
      expect(await answer(undefined)).toEqual(["a", "b"]);
      expect(await answer({ ...head, seq: 0 })).toEqual(["a", "b"]);
      expect(await answer({ ...head, seq: 1 })).toEqual(["b"]);
      expect(await answer({ ...head, seq: Number.MAX_SAFE_INTEGER })).toBe("ahead");
      expect(await answer({ epoch: "foreign", seq: 1 })).toBe("epoch");
      expect(await answer({ epoch: "", seq: 0 })).toBe("epoch");
      expect(await readAll(log, thread)).toEqual(["a", "b"]);
    },
  },
];
