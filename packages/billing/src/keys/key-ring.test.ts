import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseKeyRing } from "./key-ring.js";

const secret = () => randomBytes(32).toString("base64");
const FIRST = `first:${secret()}`;
const SECOND = `second:${secret()}`;

describe("a key ring", () => {
  it("opens what it sealed, for the same context only", () => {
    const ring = parseKeyRing(FIRST);
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (text, context, other) => {
        const sealed = ring.seal(text, context);
        expect(ring.open(sealed, context)).toBe(text);
        if (other !== context) expect(() => ring.open(sealed, other)).toThrow("can't be opened");
      }),
    );
  });

  it("opens nothing that was changed anywhere", () => {
    const ring = parseKeyRing(FIRST);
    const sealed = ring.seal("sk-token-0123456789", "row");
    for (let at = 0; at < sealed.length - 1; at++) {
      const other = sealed[at] === "A" ? "B" : "A";
      const changed = sealed.slice(0, at) + other + sealed.slice(at + 1);
      expect(() => ring.open(changed, "row")).toThrow("can't be opened");
    }
    expect(() => ring.open("", "row")).toThrow("can't be opened");
  });

  it("never seals the same text the same way", () => {
    const ring = parseKeyRing(FIRST);
    expect(ring.seal("sk", "row")).not.toBe(ring.seal("sk", "row"));
    expect(ring.seal("sk-plain-to-see", "row")).not.toContain("sk-plain");
  });

  it("is rotated by a new secret in front", () => {
    const old = parseKeyRing(FIRST).seal("sk", "row");
    const both = parseKeyRing(`${SECOND}, ${FIRST}`);
    expect(both.open(old, "row")).toBe("sk");
    expect([both.isCurrent(old), both.isCurrent(both.seal("sk", "row"))]).toEqual([false, true]);
    expect(() => parseKeyRing(SECOND).open(old, "row")).toThrow('"first"');
  });

  it.each([
    "",
    "id",
    "id:short",
    `:${secret()}`,
    `${FIRST},${FIRST}`,
    `id:${randomBytes(31).toString("base64")}`,
  ])("refuses the setting %j without repeating it", (setting) => {
    expect(() => parseKeyRing(setting)).toThrow("ID:SECRET pairs");
    try {
      parseKeyRing(setting);
    } catch (error) {
      if (setting.length > 12) expect(String(error)).not.toContain(setting.slice(-12));
    }
  });
});
