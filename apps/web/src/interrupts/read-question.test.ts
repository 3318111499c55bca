import type { JsonObject } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { readQuestion } from "./read-question";

const asked = (raw: JsonObject | string, more: object = {}) =>
  readQuestion({ id: "q", reason: "langgraph:interrupt", metadata: { langgraph: { raw } }, ...more });

const KLM = { airline: "KLM", price: "$650", stops: 0 };
const UNITED = { airline: "United", price: "$720", stops: 1 };

describe("readQuestion", () => {
  it("puts the recommended option first, names it, and answers with the option itself", () => {
    const { options } = asked({ message: "Which?", options: [UNITED, KLM], recommendation: KLM });
    expect(options).toEqual([
      { label: "KLM", detail: "$650 · 0", value: KLM, isRecommended: true },
      { label: "United", detail: "$720 · 1", value: UNITED, isRecommended: false },
    ]);
  });

  it("answers with the value of a choice that has one", () => {
    const { options } = asked({
      options: [{ label: "Go on", value: "continue" }, "stop"],
      recommended: "continue",
    });
    expect(options.map(({ label, value, isRecommended }) => [label, value, isRecommended])).toEqual([
      ["Go on", "continue", true],
      ["stop", "stop", false],
    ]);
  });

  it("makes buttons of a schema that is a choice, and a form of any other", () => {
    expect(asked({}, { responseSchema: { type: "boolean" } }).options.map(({ value }) => value)).toEqual([
      true,
      false,
    ]);
    expect(asked({}, { responseSchema: { enum: ["a", "b"] } }).options.map(({ value }) => value)).toEqual([
      "a",
      "b",
    ]);
    const form = asked({}, { responseSchema: { type: "number" } });
    expect([form.options, form.schema]).toEqual([[], { type: "number" }]);
  });

  it("reads a plain question, and one without words", () => {
    expect(asked("Go on?").message).toBe("Go on?");
    expect(asked({ question: "Really?" }).message).toBe("Really?");
    expect(asked({}).message).toContain("needs an answer");
  });

  it("reads when it expires, and no date as no end", () => {
    expect(asked({}, { expiresAt: "2026-01-01T00:00:00Z" }).expiresAt).toBe(Date.UTC(2026, 0, 1));
    expect(asked({}, { expiresAt: "soon" }).expiresAt).toBeUndefined();
  });
});
