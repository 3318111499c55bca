// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from "vitest";
import { findRanges } from "./find-in-thread";

let turns: HTMLElement[];

beforeEach(() => {
  document.body.innerHTML = "<ol><li>The <b>last tr</b>ain home</li><li>A Café, a TRAIN</li></ol>";
  turns = [...document.querySelectorAll("li")];
});

const found = (words: string) =>
  findRanges(turns, words).map(({ startContainer, startOffset, endContainer, endOffset }) => [
    startContainer.textContent?.slice(startOffset),
    endContainer.textContent?.slice(0, endOffset),
  ]);

describe("finding words in a thread", () => {
  it("finds each occurrence in order, whatever the case, also across elements", () => {
    expect(found("train")).toEqual([
      ["tr", "ain"],
      ["TRAIN", "A Café, a TRAIN"],
    ]);
  });

  it("takes accents for nothing, and finds nothing for nothing", () => {
    expect(found("cafe")).toHaveLength(1);
    expect(found("  ")).toEqual([]);
    expect(found("plane")).toEqual([]);
  });
});
