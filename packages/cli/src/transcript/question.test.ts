import type { Json } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { readAnswer, showQuestion, toTerminalInterrupt } from "./interrupt.js";

const asked = (raw: Json) => toTerminalInterrupt({ id: "i", metadata: { langgraph: { raw } } });
const textOf = (raw: Json) =>
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
    const text = textOf({ message: "Which?", options: [{ a: 1 }, { a: 2 }], recommendation: { a: 2 } });
    expect(text).toBe("? Which?\n  1. 1\n  2. 2 (recommended)");
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

  const BATCH = {
    actionRequests: [
      { name: "pay", args: { amount: 3 } },
      { name: "tell", args: {} },
    ],
    reviewConfigs: [
      { actionName: "pay", allowedDecisions: ["approve", "edit", "reject"] },
      { actionName: "tell", allowedDecisions: ["approve", "reject"] },
    ],
  };
  const both = (...decisions: object[]) => ({ value: { decisions } });

  it.each<[string, unknown]>([
    ["approve", both({ type: "approve" }, { type: "approve" })],
    [
      "reject too much",
      both({ type: "reject", message: "too much" }, { type: "reject", message: "too much" }),
    ],
    ["a, r", both({ type: "approve" }, { type: "reject" })],
    [
      '[{"type":"edit","edited_action":{"name":"pay","args":{"amount":1}}},{"type":"approve"}]',
      both({ type: "edit", editedAction: { name: "pay", args: { amount: 1 } } }, { type: "approve" }),
    ],
    ...["perhaps", "1", "edit that"].map((line): [string, unknown] => [
      line,
      {
        problem:
          "Type approve, or edit and the arguments as JSON, or reject (a reason may follow), or the decision as JSON. One answer is for all calls; approve, reject is one for each.",
      },
    ]),
    ['{"decisions":[]}', { problem: "decisions: Expected 2 decisions, one for each call, got 0." }],
  ])("of approvals takes %j as what the middleware can take, or says why not", (line, answer) => {
    expect(textOf(BATCH)).toContain('  pay {"amount":3} (approve, edit, reject)');
    expect(readAnswer(asked(BATCH), line)).toEqual(answer);
  });

  it.each<[string, unknown]>([
    ['edit {"amount":1}', both({ type: "edit", editedAction: { name: "pay", args: { amount: 1 } } })],
    ["respond ask me tomorrow", both({ type: "respond", message: "ask me tomorrow" })],
    ["respond", { problem: expect.stringContaining("respond and a text") }],
    ["No: not now", both({ type: "reject", message: "not now" })],
  ])("of one approval takes %j", (line, answer) => {
    const one = {
      actionRequests: [{ name: "pay", args: { amount: 3 } }],
      reviewConfigs: [{ actionName: "pay", allowedDecisions: ["approve", "edit", "reject", "respond"] }],
    };
    expect(readAnswer(asked(one), line)).toEqual(answer);
  });

  it("takes yes and no where they are asked for, and a number as text where the schema wants one", () => {
    expect(readAnswer(asked("Shall I go on?"), "y")).toEqual({ value: true });
    const question = toTerminalInterrupt({
      id: "i",
      metadata: { langgraph: { raw: "Which year?", responseSchema: { type: "string" } } },
    });
    expect(readAnswer(question, "1984")).toEqual({ value: "1984" });
  });

  it("refuses a number that is no option, and nothing where nothing is recommended", () => {
    expect(readAnswer(asked({ message: "Which?", options: ["red", "blue"] }), "3")).toEqual({
      problem: "Choose a number from 1 to 2.",
    });
    expect(readAnswer(asked("Sure?"), " ")).toEqual({ problem: "Type an answer." });
    expect(readAnswer(asked("How many?"), "3")).toEqual({ value: 3 });
  });
});
