import { readInterruptRequest } from "@throughline/questions";
import { describe, expect, it } from "vitest";
import { responseFromText } from "./answer-with-message";

const FLIGHTS = readInterruptRequest(
  { options: [{ airline: "KLM" }, "United"], message: "Which?" },
  undefined,
);
const CALLS = readInterruptRequest(
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
    expect(responseFromText(FLIGHTS, "united")).toBe("United");
    expect(responseFromText(FLIGHTS, "the cheap one")).toBeUndefined();
  });

  it("is a yes, a no, or the words themselves where any words do", () => {
    const shall = readInterruptRequest("Shall I go on?", undefined);
    expect([
      responseFromText(shall, "Yes."),
      responseFromText(shall, "no"),
      responseFromText(shall, "later"),
    ]).toEqual([true, false, "later"]);
    expect(responseFromText(readInterruptRequest({ message: "Why?" }, undefined), "because")).toBe("because");
  });

  it("is none for calls that wait for approval", () => {
    expect(responseFromText(CALLS, "yes")).toBeUndefined();
  });
});
