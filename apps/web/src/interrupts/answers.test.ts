import { readQuestion } from "@throughline/questions";
import { describe, expect, it } from "vitest";
import { answerIn } from "./answer-with-message";
import { answerWords } from "./answer-words";

const FLIGHTS = readQuestion({ options: [{ airline: "KLM" }, "United"], message: "Which?" }, undefined);
const CALLS = readQuestion(
  {
    action_requests: [
      { name: "pay", args: {} },
      { name: "tell", args: {} },
    ],
    review_configs: [],
  },
  undefined,
);

describe("what was answered, in words", () => {
  it("names the option that was chosen", () => {
    expect(answerWords(FLIGHTS, "United")).toBe("chose United");
  });

  it("names each call and what was decided about it", () => {
    const decisions = [{ type: "approve" }, { type: "reject" }];
    expect(answerWords(CALLS, { decisions })).toBe("approved pay, rejected tell");
  });

  it("quotes a text, cuts a long one, and says yes and no", () => {
    const why = readQuestion({ message: "Why?" }, undefined);
    expect(answerWords(why, "To see the sea")).toBe("answered “To see the sea”");
    expect(answerWords(why, "x".repeat(200))).toHaveLength(80);
    expect(answerWords(why, true)).toBe("said yes");
    expect(answerWords(why, { a: 1 })).toBe("answered");
  });
});

describe("a message that was written instead of an answer", () => {
  it("is an answer where it names an option, and none where it does not", () => {
    expect(answerIn(FLIGHTS, "united")).toBe("United");
    expect(answerIn(FLIGHTS, "the cheap one")).toBeUndefined();
  });

  it("is a yes, a no, or the words themselves where any words do", () => {
    const shall = readQuestion("Shall I go on?", undefined);
    expect([answerIn(shall, "Yes."), answerIn(shall, "no"), answerIn(shall, "later")]).toEqual([
      true,
      false,
      "later",
    ]);
    expect(answerIn(readQuestion({ message: "Why?" }, undefined), "because")).toBe("because");
  });

  it("is none for calls that wait for approval", () => {
    expect(answerIn(CALLS, "yes")).toBeUndefined();
  });
});
