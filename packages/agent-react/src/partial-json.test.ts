import fc from "fast-check";
import { expect, it } from "vitest";
import { readPartialJson } from "./predicted-state.js";

it.each([
  ["", undefined],
  ["{", {}],
  ['{"ci', {}],
  ['{"city"', {}],
  ['{"city":', {}],
  ['{"city": "Ba', { city: "Ba" }],
  ['{"city": "Ba\\', { city: "Ba" }],
  ['{"city": "B\\u00e', { city: "B" }],
  ['{"city": "a\\\\', { city: "a\\" }],
  ['{"city": "Basel", "day', { city: "Basel" }],
  ['{"n": -', {}],
  ['{"n": 12', { n: 12 }],
  ['{"n": 12, "is": tr', { n: 12 }],
  ['{"list": [1, {"a": "x', { list: [1, { a: "x" }] }],
  ['["a", ', ["a"]],
  ['"rive', "rive"],
])("reads %s as far as it has come", (text, value) => {
  expect(readPartialJson(text)).toEqual(value);
});

it("is a beginning of the whole, wherever it is cut", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(), fc.boolean(), (value, cut, isSpaced) => {
      const text = JSON.stringify(value, null, isSpaced ? 1 : 0);
      const whole: unknown = JSON.parse(text);
      expect(readPartialJson(text)).toEqual(whole);
      const part = readPartialJson(text.slice(0, cut % (text.length + 1)));
      expect(part === undefined || begins(part, whole)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

function begins(part: unknown, whole: unknown): boolean {
  if (typeof part === "string") return typeof whole === "string" && whole.startsWith(part);
  // The digits that are there.
  if (typeof part === "number") return typeof whole === "number";
  if (Array.isArray(part))
    return Array.isArray(whole) && part.every((item, at) => at < whole.length && begins(item, whole[at]));
  if (typeof part !== "object" || part === null) return part === whole;
  if (typeof whole !== "object" || whole === null) return false;
  const known = new Map<string, unknown>(Object.entries(whole));
  return Object.entries(part).every(([key, item]) => known.has(key) && begins(item, known.get(key)));
}
