import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { newThread, note } from "../conformance/log-scene.js";
import { encodeEnvelope } from "../log/entries.js";
import type { CommittedEntries } from "../log/log-store.js";
import { threadDigest } from "../thread-ref.js";
import { decodeBusMessage, encodeBusMessage } from "./message.js";

const HERE = "instance";
const THERE = "another1";

const entryOf = (text: string) => ({ text, bytes: Buffer.byteLength(text), endOfRun: undefined });

const anyCommit = fc.record({
  thread: fc.record({
    account: fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/),
    subject: fc.option(fc.string({ unit: "grapheme", minLength: 1, maxLength: 10 }), { nil: undefined }),
    threadId: fc.uuid(),
  }),
  epoch: fc.stringMatching(/^[A-Za-z0-9_-]{1,32}$/),
  first: fc.integer({ min: 1, max: 2 ** 48 - 1 }),
  entries: fc.array(fc.string({ unit: "binary", maxLength: 40 }).map(entryOf), {
    minLength: 1,
    maxLength: 5,
  }),
});

/** What was encoded, as the other end should read it. */
const toldOf = ({ thread, epoch, first, entries }: CommittedEntries) => ({
  digest: threadDigest(thread),
  epoch,
  first,
  // A lone surrogate has no UTF-8; JSON never holds one.
  texts: entries.map(({ text }) => Buffer.from(text).toString()),
});

function heardOf(message: ReturnType<typeof decodeBusMessage>) {
  if (message.kind !== "commits") return message.kind;
  return message.commits.map(({ digest, epoch, first, texts }) => ({ digest, epoch, first, texts: texts() }));
}

describe("a message of the bus", () => {
  it("says at the other end what was said here, whatever the entries hold", () => {
    fc.assert(
      fc.property(fc.array(anyCommit, { minLength: 1, maxLength: 6 }), (commits) => {
        const heard = heardOf(decodeBusMessage(HERE, encodeBusMessage(THERE, commits)));
        expect(heard).toEqual(commits.map(toldOf));
      }),
    );
  });

  it("is nothing new to the instance that sent it", () => {
    const thread = newThread();
    const commit = { thread, epoch: "e", first: 1, entries: [encodeEnvelope(note(thread, "a"))] };
    expect(heardOf(decodeBusMessage(HERE, encodeBusMessage(HERE, [commit])))).toBe("own");
  });

  it("names a thread without its entries where these are too large together", () => {
    const [small, large] = [newThread(), newThread()];
    const entriesOf = (length: number) => [entryOf("x".repeat(length))];
    const message = encodeBusMessage(THERE, [
      { thread: large, epoch: "e", first: 1, entries: entriesOf(2_000_000) },
      { thread: small, epoch: "f", first: 7, entries: entriesOf(10) },
    ]);
    expect(message.length).toBeLessThan(1_000);
    expect(heardOf(decodeBusMessage(HERE, message))).toEqual([
      { digest: threadDigest(large), epoch: "e", first: 1, texts: [] },
      { digest: threadDigest(small), epoch: "f", first: 7, texts: ["x".repeat(10)] },
    ]);
  });

  it("is unreadable, and nothing worse, when it is of another version or damaged", () => {
    const other = encodeBusMessage(THERE, []);
    other.writeUInt8(2);
    expect(heardOf(decodeBusMessage(HERE, other))).toBe("unreadable");
    expect(heardOf(decodeBusMessage(HERE, Buffer.alloc(0)))).toBe("unreadable");
    fc.assert(
      fc.property(fc.array(anyCommit, { minLength: 1, maxLength: 3 }), fc.nat(), (commits, cut) => {
        const whole = encodeBusMessage(THERE, commits);
        const part = whole.subarray(0, 1 + (cut % (whole.length - 1)));
        const message = decodeBusMessage(HERE, part);
        // Cut between two threads it is a shorter message.
        if (message.kind === "commits") expect(message.commits.length).toBeLessThan(commits.length);
      }),
    );
  });
});
