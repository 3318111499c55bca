import { describe, expect, it } from "vitest";
import { describeOption, readAnswer, toQuestion } from "./question.js";

const options = [{ name: "first" }, { name: "second" }];
const question = toQuestion({
  id: "1",
  value: { message: "Which?", options, recommendation: { name: "second" } },
});

describe("a question to a person", () => {
  it("knows the recommended option by its value", () => {
    expect(question).toMatchObject({ message: "Which?", options, recommended: 1 });
  });

  it.each([
    ["1", { name: "first" }],
    [" 2 ", { name: "second" }],
    ["", { name: "second" }],
    ['{"name":"other"}', { name: "other" }],
    ["the second one", "the second one"],
  ])("reads “%s” as an answer", (line, value) => {
    expect(readAnswer(question, line)).toEqual({ value });
  });

  it.each(["0", "3"])("does not pass the number %s on, which is no option", (line) => {
    expect(readAnswer(question, line)).toEqual({ problem: "Choose a number from 1 to 2." });
  });

  it("takes a number as a number where there are no options", () => {
    expect(readAnswer(toQuestion({ id: "1", value: "How many?" }), "3")).toEqual({ value: 3 });
  });

  it("shows a value it does not understand as JSON", () => {
    expect(toQuestion({ id: "1", value: { x: [1] } }).message).toBe(JSON.stringify({ x: [1] }, undefined, 2));
    expect(describeOption({ a: { b: 1 } })).toBe('{"a":{"b":1}}');
  });
});
