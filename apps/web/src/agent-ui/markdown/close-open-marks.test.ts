import { describe, expect, it } from "vitest";
import { closeOpenMarks } from "./open-marks";

describe("closeOpenMarks", () => {
  it.each([
    ["plain words", "plain words"],
    ["it is **bol", "it is **bol**"],
    ["it is **bold*", "it is **bold**"],
    ["it is **", "it is "],
    ["it is **bold**", "it is **bold**"],
    ["an *emph", "an *emph*"],
    ["a ~~gone", "a ~~gone~~"],
    ["call `fetch(", "call `fetch(`"],
    ["call `", "call "],
    ["code `a * b` and 2 * 3", "code `a * b` and 2 * 3"],
    ["see [the docs](https://exam", "see the docs"],
    ["see [the do", "see the do"],
    ["see [the docs](https://example.com)", "see [the docs](https://example.com)"],
    ["A line\n-", "A line"],
    ["A line\n==", "A line"],
    ["One *done*.\n\nTwo **op", "One *done*.\n\nTwo **op**"],
    ["```ts\nconst a = `x", "```ts\nconst a = `x"],
    ["- first\n- sec **x", "- first\n- sec **x**"],
  ])("reads %j as %j", (text, meant) => {
    expect(closeOpenMarks(text)).toBe(meant);
  });
});
