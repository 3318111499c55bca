import { expect, it } from "vitest";
import { keyLabels } from "./kbd";

it("names keys as they are printed on the machine at hand", () => {
  expect(keyLabels("mod+k", true)).toEqual(["⌘", "K"]);
  expect(keyLabels("mod+k", false)).toEqual(["Ctrl", "K"]);
  expect(keyLabels("shift+enter", false)).toEqual(["Shift", "Enter"]);
});

it("takes two presses one after the other apart", () => {
  expect(keyLabels("g c", false)).toEqual(["G", "C"]);
  expect(keyLabels("?", true)).toEqual(["?"]);
});
