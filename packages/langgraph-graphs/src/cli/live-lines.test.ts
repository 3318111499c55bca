import { expect, it } from "vitest";
import { liveLines } from "./live-lines.js";

it("shows the oldest open text live and the others, whole, when their turn comes", () => {
  const shown: string[] = [];
  const lines = liveLines((text) => shown.push(text));
  const first = lines.open();
  const second = lines.open();
  const third = lines.open();
  first.write("a");
  second.write("x");
  third.write("1");
  first.write("b");
  third.close();
  expect(shown).toEqual(["a", "b"]);
  first.close();
  expect(shown).toEqual(["a", "b", "x"]);
  second.write("y");
  second.close();
  expect(shown).toEqual(["a", "b", "x", "y", "1"]);
});

it("shows everything that waits when all is closed at once", () => {
  const shown: string[] = [];
  const lines = liveLines((text) => shown.push(text));
  lines.open().write("a");
  lines.open().write("b");
  lines.closeAll();
  expect(shown.join("")).toBe("ab");
});
