import type { Json, JsonObject } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { describeResponse } from "./answer-words.js";
import { readInterruptRequest } from "./read-question.js";

const APPROVED: JsonObject = {
  type: "object",
  properties: { approved: { type: "boolean" }, editedArgs: { type: "object" } },
};
const PAY = { action_request: { action: "pay", args: {} }, config: { allow_accept: true } };
const BATCH = {
  action_requests: [
    { name: "pay", args: {} },
    { name: "tell", args: {} },
  ],
};

describe("answerWords", () => {
  it.each<[string, Json, Json]>([
    ["chose United", { options: ["KLM", "United"] }, "United"],
    ["answered “by train”", { options: ["KLM", "United"] }, "by train"],
    ["approved pay, rejected tell", BATCH, { decisions: [{ type: "approve" }, { type: "reject" }] }],
    ["decided on pay", { type: "tool_approval", name: "pay" }, { type: "switch_manual" }],
    [
      "edited pay",
      { reason: "tool_call", name: "pay", responseSchema: APPROVED },
      { approved: true, editedArgs: {} },
    ],
    ["rejected the call", { reason: "tool_call", responseSchema: APPROVED }, { approved: false }],
    ["ignored pay", PAY, [{ type: "ignore", args: null }]],
    ["rejected send", { action: "send", to: "ada" }, { action: "reject" }],
    ["said yes", "Shall I go on?", true],
    [
      "said no",
      { reason: "confirmation", responseSchema: { properties: { approved: { type: "boolean" } } } },
      { approved: false },
    ],
    ["answered “later”", "Shall I go on?", "later"],
    [
      "answered “Ada”, “Mon”",
      { type: "ask_user", questions: [{ question: "Who?" }] },
      { status: "answered", answers: ["Ada", "Mon"] },
    ],
    [
      "cancelled",
      { type: "ask_user", questions: [{ question: "Who?" }] },
      { status: "cancelled", answers: [] },
    ],
    [
      "accepted day: Monday, declined",
      { type: "mcp_elicitation", requests: [{ key: "a" }, { key: "b" }] },
      { responses: { a: { action: "accept", content: { day: "Monday" } }, b: { action: "decline" } } },
    ],
    ["approved amount: 4", { fields: [{ name: "amount" }] }, { approved: true, values: { amount: 4 } }],
    ["rejected", { fields: [{ name: "amount" }] }, { approved: false, values: {} }],
    ["answered “To see the sea”", { message: "Why?" }, "To see the sea"],
    ["answered day: Monday, people: 2", { message: "Why?" }, { day: "Monday", people: 2, more: {} }],
    ["answered", { message: "Why?" }, { more: {} }],
    ["answered", { message: "Why?" }, null],
  ])("says %j", (words, value, answer) => {
    expect(describeResponse(readInterruptRequest(value), answer)).toBe(words);
  });

  it("cuts what is long", () => {
    expect(describeResponse(readInterruptRequest("Why?"), "x".repeat(200))).toHaveLength(80);
  });
});
