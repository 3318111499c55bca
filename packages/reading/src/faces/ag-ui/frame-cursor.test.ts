import fc from "fast-check";
import { expect, it } from "vitest";
import { encodeFrameCursor, parseFrameCursor } from "./frame-cursor.js";

it("reads back every cursor it mints", () => {
  const cursor = fc.record({
    epoch: fc.string({ unit: fc.constantFrom(..."aZ09_-"), minLength: 1, maxLength: 64 }),
    seq: fc.nat({ max: 999_999_999 }),
    n: fc.nat({ max: 999_999_999 }),
    face: fc.constantFrom("0l", "1s", "1b"),
  });
  fc.assert(
    fc.property(cursor, (value) => {
      expect(parseFrameCursor(encodeFrameCursor(value))).toEqual(value);
    }),
  );
});

it.each([
  "",
  "-1",
  "0",
  "abc",
  "e.1.2",
  "e.-1.0.0l",
  "e.1.0.0l ",
  "e.1.0.0l\n",
  "e.99999999999999999.0.0l",
  "e.1.0.!",
  ".1.0.0l",
  "e.1e3.0.0l",
])("does not guess at %j", (text) => expect(parseFrameCursor(text)).toBeUndefined());
