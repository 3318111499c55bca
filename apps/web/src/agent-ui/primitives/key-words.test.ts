import { expect, it } from "vitest";
import { keyWords } from "./kbd";

it("names keys as they are printed on the machine at hand", () => {
  expect(keyWords("mod+k", true)).toEqual(["⌘", "K"]);
  expect(keyWords("mod+k", false)).toEqual(["Ctrl", "K"]);
  expect(keyWords("shift+enter", false)).toEqual(["Shift", "Enter"]);
});

it("takes two presses one after the other apart", () => {
  expect(keyWords("g c", false)).toEqual(["G", "C"]);
  expect(keyWords("?", true)).toEqual(["?"]);
});
