import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ThroughlineError } from "./errors/throughline-error.js";
import { deriveThreadId, type ThreadKey, threadPreimage, toStateKey } from "./ids.js";

const hostile = [
  ":",
  "/",
  "@",
  "%",
  "%2F",
  "%3A",
  "::",
  "//",
  "e\u0301",
  "\u00e9",
  "\u212b",
  "\u00c5",
  "a",
  "ﬁ",
  "😀",
];
const separators = fc.constantFrom(...hostile);
const text = fc
  .array(fc.oneof(separators, fc.string({ unit: "binary", minLength: 1, maxLength: 3 })), {
    minLength: 1,
    maxLength: 8,
  })
  .map((parts) => parts.join(""))
  .filter((value) => !/[\p{Cc}\p{Cs}]/u.test(value));
const plain = fc.string({ unit: fc.constantFrom(..."ab_-01"), minLength: 1, maxLength: 4 });
const threadKey: fc.Arbitrary<ThreadKey> = fc.record(
  { account: plain, subject: text, graphName: plain, threadName: text },
  { requiredKeys: ["account", "graphName", "threadName"] },
);

/** What identifies a thread: the fields, with canonically equal spellings counted as one. */
function identity(key: ThreadKey): string {
  return JSON.stringify([
    key.account,
    key.subject?.normalize("NFC") ?? null,
    key.graphName,
    key.threadName.normalize("NFC"),
  ]);
}

describe("threadPreimage", () => {
  it("is injective: two keys share a pre-image exactly when they are the same key", () => {
    fc.assert(
      fc.property(threadKey, threadKey, (a, b) => {
        expect(threadPreimage(a) === threadPreimage(b)).toBe(identity(a) === identity(b));
      }),
      { numRuns: 3_000 },
    );
  });

  it("stays injective when separators move from one field into its neighbour", () => {
    const moved = fc.tuple(plain, plain, text, text).map(([account, graphName, left, right]) => ({
      asOneName: { account, graphName, threadName: `${left}/${right}` },
      asSubject: { account, graphName, subject: left, threadName: right },
      asNestedSubject: { account, subject: `${left}/${graphName}`, graphName, threadName: right },
    }));
    fc.assert(
      fc.property(moved, (keys) => {
        const preimages = Object.values(keys).map(threadPreimage);
        expect(new Set(preimages).size).toBe(3);
      }),
      { numRuns: 1_000 },
    );
  });

  it("can be read back: an account ends at the first colon, a subject at the first slash after an @", () => {
    fc.assert(
      fc.property(threadKey, (key) => {
        const preimage = threadPreimage(key);
        const account = preimage.slice(0, preimage.indexOf(":"));
        let rest = preimage.slice(account.length + 1);
        let subject: string | null = null;
        if (rest.startsWith("@")) {
          subject = decodeURIComponent(rest.slice(1, rest.indexOf("/")));
          rest = rest.slice(rest.indexOf("/") + 1);
        }
        const graphName = rest.slice(0, rest.indexOf("/"));
        expect(JSON.stringify([account, subject, graphName, rest.slice(graphName.length + 1)])).toBe(
          identity(key),
        );
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("deriveThreadId", () => {
  const key = { account: "acme", graphName: "chat", threadName: "Über-Plan" };

  it("is stable for ever", () => {
    expect(deriveThreadId(key)).toBe("3be17232-e952-5967-9bb7-a26222f3f705");
  });

  it("gives canonically equal names the same thread and a private thread another one", () => {
    expect(deriveThreadId({ ...key, threadName: "U\u0308ber-Plan" })).toBe(deriveThreadId(key));
    expect(deriveThreadId({ ...key, subject: "ada" })).not.toBe(deriveThreadId(key));
  });

  it.each([
    ["an account with a colon", { account: "a:b" }, "account"],
    ["an empty account", { account: "" }, "account"],
    ["an account of 129 characters", { account: "x".repeat(129) }, "account"],
    ["a graph name with a slash", { graphName: "a/b" }, "graphName"],
    ["an empty thread name", { threadName: "" }, "threadName"],
    ["a thread name of 257 characters", { threadName: "😀".repeat(257) }, "threadName"],
    ["a lone surrogate", { threadName: "\ud83d" }, "threadName"],
    ["a control character", { threadName: "a\nb" }, "threadName"],
    ["a control character in the subject", { subject: "a\u0000b" }, "subject"],
  ])("refuses %s and names the field", (_, wrong, field) => {
    const derive = () => deriveThreadId({ ...key, ...wrong });
    expect(derive).toThrow(ThroughlineError);
    expect(derive).toThrow(field);
  });

  it("accepts 256 characters outside the basic plane", () => {
    expect(() => deriveThreadId({ ...key, threadName: "😀".repeat(256) })).not.toThrow();
  });
});

describe("toStateKey", () => {
  it("joins graph and thread by the slash that no graph name holds", () => {
    expect(toStateKey("chat", "a/b")).toBe("chat/a/b");
  });
});
