import { describe, expect, it } from "vitest";
import { readAnswer, showQuestion, toQuestion } from "./question.js";

const asked = (raw: unknown) => toQuestion({ id: "i", metadata: { langgraph: { raw } } });
const textOf = (raw: unknown) =>
  showQuestion(asked(raw))
    .map((span) => span.text)
    .join("");

describe("a question of a graph", () => {
  it("is a text, a choice, or whatever value it is", () => {
    expect(textOf("Sure?")).toBe("? Sure?");
    expect(textOf({ question: "Who?" })).toBe("? Who?");
    expect(textOf({ message: "Which?", options: [{ name: "KLM", price: 650 }, { deep: {} }] })).toBe(
      '? Which?\n  1. KLM, 650\n  2. {"deep":{}}',
    );
    expect(textOf({ budget: 3 })).toBe('? {\n  "budget": 3\n}');
  });

  it("marks the option that is recommended, by its value", () => {
    const { recommended } = asked({
      message: "Which?",
      options: [{ a: 1 }, { a: 2 }],
      recommendation: { a: 2 },
    });
    expect(recommended).toBe(1);
  });

  it.each<[string, unknown]>([
    ["2", "blue"],
    ["", "red"],
    ["green", "green"],
    ['{"own":1}', { own: 1 }],
    ["true", true],
  ])("takes %j for an answer", (line, value) => {
    const question = asked({ message: "Which?", options: ["red", "blue"], recommendation: "red" });
    expect(readAnswer(question, line)).toEqual({ value });
  });

  it("refuses a number that is no option, and nothing where nothing is recommended", () => {
    expect(readAnswer(asked({ message: "Which?", options: ["red", "blue"] }), "3")).toEqual({
      problem: "Choose a number from 1 to 2.",
    });
    expect(readAnswer(asked("Sure?"), " ")).toEqual({ problem: "Type an answer." });
    expect(readAnswer(asked("How many?"), "3")).toEqual({ value: 3 });
  });
});
