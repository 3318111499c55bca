import { readQuestion } from "@throughline/questions";
import { describe, expect, it } from "vitest";
import { answerIn } from "./answer-with-message";

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
