import { expect, it } from "vitest";
import { parseRange } from "./byte-range.js";

it.each([
  ["bytes=0-0", { start: 0, end: 1 }],
  ["bytes=0-", { start: 0, end: 100 }],
  ["bytes=10-19", { start: 10, end: 20 }],
  ["bytes=90-1000", { start: 90, end: 100 }],
  ["bytes=-10", { start: 90, end: 100 }],
  ["bytes=-1000", { start: 0, end: 100 }],
  ["bytes=100-", "unsatisfiable"],
  ["bytes=200-300", "unsatisfiable"],
  ["bytes=-0", "unsatisfiable"],
  ["bytes=20-10", undefined],
  ["bytes=0-1,5-6", undefined],
  ["bytes=-", undefined],
  ["lines=0-1", undefined],
  ["bytes=a-b", undefined],
  [undefined, undefined],
])("Of a file of 100 bytes, %s asks for %o", (header, asked) => {
  expect(parseRange(header, 100)).toEqual(asked);
});
