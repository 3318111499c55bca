import { expect, it } from "vitest";
import { markedTitle } from "./tab-title";

it("says before a title how many threads wait, once, and nothing where none does", () => {
  expect(markedTitle("Poet · Throughline", 2)).toBe("(2) Poet · Throughline");
  expect(markedTitle("(2) Poet · Throughline", 1)).toBe("(1) Poet · Throughline");
  expect(markedTitle("(1) Poet · Throughline", 0)).toBe("Poet · Throughline");
});
