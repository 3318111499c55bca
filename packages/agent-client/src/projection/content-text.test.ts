import { expect, it } from "vitest";
import { contentText } from "./thread-view.js";

it("a message has its words, whichever way they are carried, and none where it has files alone", () => {
  expect(contentText("hello")).toBe("hello");
  const file = { type: "binary", id: "x" };
  expect(contentText([{ type: "text", text: "a" }, file, { type: "text", text: "b" }])).toBe("a\n\nb");
  expect(contentText([file])).toBe("");
  expect(contentText(undefined)).toBe("");
});
