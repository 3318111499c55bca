import { expect, it } from "vitest";
import { ranked } from "./palette-body";

function found(all: readonly string[], typed: string): readonly string[] {
  return ranked(all, typed, (text) => text);
}

it("leaves everything in its order while nothing is typed", () => {
  expect(found(["b", "a"], " ")).toEqual(["b", "a"]);
});

it("wants every word that was typed, in any order and whatever case and accents", () => {
  expect(found(["Café by the sea", "Coffee", "The sea"], "SEA cafe")).toEqual(["Café by the sea"]);
});

it("puts what begins so first, then what has a word that begins so, then the rest", () => {
  expect(found(["repose", "the poet", "poet"], "po")).toEqual(["poet", "the poet", "repose"]);
});

it("prefers the shorter of two that fit alike", () => {
  expect(found(["New thread with Poet", "New thread"], "new")).toEqual([
    "New thread",
    "New thread with Poet",
  ]);
});
