import { expect } from "vitest";
import { fenceOf, type LogCase, newThread, note, notes, readAll, textsOf, write } from "./log-scene.js";

export const appendCases: readonly LogCase[] = [
  {
    name: "numbers entries from 1 without holes, in the order they were given",
    async run({ log, thread }) {
      const fence = fenceOf(thread, 1);
      const opened = await log.open(thread, fence);
      expect(opened).toMatchObject({ ok: true, head: { seq: 0 } });
      const first = await log.append(thread, notes(thread, "a", "b", "c"), fence);
      const second = await log.append(thread, notes(thread, "d"), fence);
      expect(first).toMatchObject({ ok: true, first: 1, last: 3 });
      expect(second).toMatchObject({ ok: true, first: 4, last: 4 });
      const answer = await log.read(thread, undefined);
      if (answer.kind !== "entries") return expect.unreachable();
      expect(answer.entries.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
      expect(textsOf(answer.entries)).toEqual(["a", "b", "c", "d"]);
      expect(answer.head).toEqual({ epoch: answer.entries[0]?.epoch, seq: 4 });
      expect(await log.head(thread)).toEqual(answer.head);
    },
  },
  {
    name: "keeps every envelope exactly as it was given",
    async run({ log, thread }) {
      const odd = ["\u0000", "\u001e", "\ud800", "😀", '"\\', "\n\u2028", "{}", ""];
      await write(log, thread, odd);
      const answer = await log.read(thread, undefined);
      if (answer.kind !== "entries") return expect.unreachable();
      expect(answer.entries.map(({ envelope }) => envelope)).toEqual(notes(thread, ...odd));
    },
  },
  {
    name: "gives appends of one turn consecutive places in the order of the calls",
    async run({ log, thread }) {
      const fence = fenceOf(thread, 1);
      await log.open(thread, fence);
      const results = await Promise.all(
        Array.from({ length: 50 }, (_, i) => log.append(thread, notes(thread, `${i}a`, `${i}b`), fence)),
      );
      expect(results.map((result) => result.ok && result.first)).toEqual(
        Array.from({ length: 50 }, (_, i) => 2 * i + 1),
      );
      expect(await readAll(log, thread)).toEqual(
        Array.from({ length: 50 }, (_, i) => [`${i}a`, `${i}b`]).flat(),
      );
    },
  },
  {
    name: "keeps batches whole when two instances write one thread under one token",
    async run({ log, another, thread }) {
      const other = await another();
      const fence = fenceOf(thread, 1);
      await log.open(thread, fence);
      const results = await Promise.all(
        Array.from({ length: 60 }, (_, i) =>
          (i % 2 ? log : other).append(thread, notes(thread, `${i}.1`, `${i}.2`, `${i}.3`), fence),
        ),
      );
      const firsts = results.map((result) => (result.ok ? result.first : 0)).sort((a, b) => a - b);
      expect(firsts).toEqual(Array.from({ length: 60 }, (_, i) => 3 * i + 1));
      const texts = await readAll(log, thread);
      for (let i = 0; i < texts.length; i += 3) {
        const [name] = texts[i]?.split(".") ?? [];
        expect(texts.slice(i, i + 3)).toEqual([`${name}.1`, `${name}.2`, `${name}.3`]);
      }
    },
  },
  {
    name: "commits many threads of two instances without one waiting for another for ever",
    async run({ log, another, thread }) {
      const other = await another();
      const threads = Array.from({ length: 12 }, () => newThread(thread.account));
      await Promise.all(threads.map((each) => log.open(each, fenceOf(each, 1))));
      for (let round = 0; round < 5; round++) {
        const ok = await Promise.all(
          [
            ...threads.map((t) => [log, t] as const),
            ...threads.toReversed().map((t) => [other, t] as const),
          ].map(([writer, t]) => writer.append(t, [note(t, `${round}`)], fenceOf(t, 1))),
        );
        expect(ok.every((result) => result.ok)).toBe(true);
      }
      for (const each of threads) expect(await log.head(each)).toMatchObject({ seq: 10 });
    },
  },
  {
    name: "R17: refuses a writer whose token is not the newest, and lets it change nothing",
    async run({ log, another, thread }) {
      await write(log, thread, ["mine"], 5);
      const heir = await another();
      await write(heir, thread, ["theirs"], 6);
      const zombie = await log.append(thread, notes(thread, "too late"), fenceOf(thread, 5));
      expect(zombie).toEqual({ ok: false, reason: "fenced" });
      expect(await log.open(thread, fenceOf(thread, 5))).toEqual({ ok: false, reason: "fenced" });
      expect(await readAll(log, thread)).toEqual(["mine", "theirs"]);
    },
  },
  {
    name: "R17: refuses the old writer from the moment a new one is announced",
    async run({ log, thread }) {
      await write(log, thread, ["a"], 1);
      await log.open(thread, fenceOf(thread, 2));
      expect(await log.append(thread, notes(thread, "b"), fenceOf(thread, 1))).toEqual({
        ok: false,
        reason: "fenced",
      });
      expect(await readAll(log, thread)).toEqual(["a"]);
    },
  },
  {
    name: "R19: keeps the epoch through a takeover",
    async run({ log, thread }) {
      await write(log, thread, ["a"], 1);
      const before = await log.head(thread);
      await write(log, thread, ["b"], 2);
      expect(await log.head(thread)).toEqual({ epoch: before?.epoch, seq: 2 });
    },
  },
  {
    name: "refuses to append to a thread that was never opened",
    async run({ log, thread }) {
      expect(await log.append(thread, notes(thread, "a"), fenceOf(thread, 1))).toEqual({
        ok: false,
        reason: "deleted",
      });
      expect(await log.head(thread)).toBeUndefined();
    },
  },
  {
    name: "names the field when an append is empty or its fence is of another thread",
    async run({ log, thread }) {
      await log.open(thread, fenceOf(thread, 1));
      await expect(log.append(thread, [], fenceOf(thread, 1))).rejects.toThrow("envelopes");
      await expect(log.append(thread, notes(thread, "a"), fenceOf(newThread(), 1))).rejects.toThrow("fence");
    },
  },
  {
    name: "answers a commit that is tried again as it did the first time, and writes nothing",
    async run({ log, store, thread }) {
      await write(log, thread, ["a"]);
      const text = JSON.stringify(note(thread, "b"));
      const append = {
        thread,
        token: 1n,
        appendId: "the-same",
        entries: [{ text, bytes: Buffer.byteLength(text), endOfRun: undefined }],
      };
      const [first] = await store.commit([append]);
      const [again] = await store.commit([append]);
      expect(again).toEqual(first);
      await log.open(thread, fenceOf(thread, 2));
      expect(await store.commit([append])).toEqual([first]);
      expect(first).toMatchObject({ ok: true, first: 2, last: 2 });
      expect(await readAll(log, thread)).toEqual(["a", "b"]);
    },
  },
  {
    name: "refuses a commit that arrives late, after its retry and the commit that followed",
    async run({ log, store, thread }) {
      await write(log, thread, ["a"]);
      const unit = (n: number, text: string) => {
        const encoded = JSON.stringify(note(thread, text));
        const entries = [{ text: encoded, bytes: Buffer.byteLength(encoded), endOfRun: undefined }];
        return { thread, token: 1n, appendId: `twelve-chars.${n.toString(36).padStart(9, "0")}`, entries };
      };
      expect(await store.commit([unit(35, "b")])).toMatchObject([{ ok: true }]);
      expect(await store.commit([unit(36, "c")])).toMatchObject([{ ok: true }]);
      expect(await store.commit([unit(35, "b")])).toEqual([{ ok: false, reason: "fenced" }]);
      expect(await store.commit([unit(36, "c")])).toMatchObject([{ ok: true, first: 3, last: 3 }]);
      expect(await store.commit([unit(37, "d")])).toMatchObject([{ ok: true, first: 4 }]);
      expect(await readAll(log, thread)).toEqual(["a", "b", "c", "d"]);
    },
  },
  {
    name: "hides a thread from every other account and subject",
    async run({ log, thread }) {
      const own = { ...thread, subject: "ann" };
      await write(log, own, ["secret"]);
      for (const foreign of [thread, { ...own, subject: "bob" }, { ...own, account: "someone-else" }]) {
        expect(await log.head(foreign)).toBeUndefined();
        expect(await log.read(foreign, undefined)).toEqual({ kind: "entries", entries: [], head: undefined });
        expect(await log.append(foreign, notes(own, "x"), fenceOf(own, 9))).toMatchObject({ ok: false });
        expect(await log.deleteThread(foreign)).toBe(false);
      }
      expect(await readAll(log, own)).toEqual(["secret"]);
    },
  },
];
