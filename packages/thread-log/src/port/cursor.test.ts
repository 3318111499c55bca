import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Cursor, formatCursor, parseCursor } from "./cursor.js";

const word = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/);
const cursor: fc.Arbitrary<Cursor> = fc.record(
  { epoch: word, seq: fc.maxSafeNat(), frame: fc.integer({ min: 1, max: 1e6 }), face: word },
  { requiredKeys: ["epoch", "seq"] },
);

describe("wire cursors", () => {
  it("come back as they went, in one line that is safe in a header and a URL", () => {
    fc.assert(
      fc.property(cursor, (at) => {
        const text = formatCursor(at);
        expect(text).toMatch(/^[A-Za-z0-9._-]+$/);
        expect(parseCursor(text)).toEqual({ kind: "at", cursor: at });
      }),
    );
  });

  it("have one spelling: whatever is read is written the same again", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), cursor.map(formatCursor), fc.stringMatching(/^1\.[a-z]+\.[0-9]+\.[0-9]+\.$/)),
        (text) => {
          const parsed = parseCursor(text);
          if (parsed.kind === "at") expect(formatCursor(parsed.cursor)).toBe(text);
        },
      ),
    );
  });

  it.each([
    ["nothing", undefined, "none"],
    ["null", null, "none"],
    ["the empty string", "", "none"],
    ["-1", "-1", "start"],
    ["-2", "-2", "unreadable"],
    ["a bare number", "42", "unreadable"],
    ["a space", " ", "unreadable"],
    ["another version", "2.e.1.0.", "unreadable"],
    ["a missing part", "1.e.1.0", "unreadable"],
    ["a part too many", "1.e.1.0..", "unreadable"],
    ["a leading zero", "1.e.01.0.", "unreadable"],
    ["a sign", "1.e.+1.0.", "unreadable"],
    ["a fraction", "1.e.1e3.0.", "unreadable"],
    ["a seq past what a number holds", "1.e.9007199254740993.0.", "unreadable"],
    ["a huge seq", `1.e.${"9".repeat(30)}.0.`, "unreadable"],
    ["an empty epoch", "1..1.0.", "unreadable"],
    ["a line end", "1.e.1.0.\n", "unreadable"],
    ["a NUL", "1.e\u0000.1.0.", "unreadable"],
    ["a megabyte", "1".repeat(1_000_000), "unreadable"],
  ])("answers %s as it is meant to", (_, text, kind) => {
    expect(parseCursor(text).kind).toBe(kind);
  });

  it("refuse to be made of what the log never mints", () => {
    for (const wrong of [
      { epoch: "", seq: 1 },
      { epoch: "a.b", seq: 1 },
      { epoch: "a", seq: -1 },
      { epoch: "a", seq: 0.5 },
    ]) {
      expect(() => formatCursor(wrong)).toThrow("Not a position");
    }
  });
});
