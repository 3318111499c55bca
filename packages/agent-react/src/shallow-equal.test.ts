import fc from "fast-check";
import { expect, it } from "vitest";
import { shallowEqual } from "./use-selector.js";

const inner = {};

it.each([
  [1, 1],
  [Number.NaN, Number.NaN],
  [
    [1, inner],
    [1, inner],
  ],
  [
    { a: 1, b: inner },
    { b: inner, a: 1 },
  ],
])("finds %j and %j equal", (a, b) => {
  expect(shallowEqual(a, b)).toBe(true);
});

it.each([
  [1, 2],
  [null, {}],
  [[], {}],
  [[1], [1, 2]],
  [[{}], [{}]],
  [{ a: 1 }, { b: 1 }],
  [{ a: undefined }, { b: undefined }],
  [{ a: inner }, { a: {} }],
])("finds %j and %j different", (a, b) => {
  expect(shallowEqual(a, b)).toBe(false);
});

it("finds every copy equal, and the order of the question makes no difference", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.integer()),
      fc.dictionary(fc.string(), fc.integer()),
      (a, b) => {
        expect(shallowEqual(a, { ...a })).toBe(true);
        expect(shallowEqual(Object.values(a), Object.values(a))).toBe(true);
        expect(shallowEqual(a, b)).toBe(shallowEqual(b, a));
      },
    ),
  );
});
