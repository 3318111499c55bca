import type { SubmittedCommand } from "@throughline/agent-client";
import type { Json } from "@throughline/ai-core";
import { validateResponse } from "@throughline/questions";
import { expect, it } from "vitest";
import { type AskedQuestion, askedQuestion, readInterrupt } from "./use-interrupt.js";

function ask(raw: Json, responseSchema?: object) {
  const answers: Json[] = [];
  const langgraph = JSON.parse(JSON.stringify({ raw, responseSchema }));
  const open = readInterrupt({ id: "q", reason: "langgraph:interrupt", metadata: { langgraph } });
  const asked = askedQuestion(open, (answer): SubmittedCommand => {
    answers.push(answer);
    return Object.assign(Promise.resolve({ kind: "discarded" } as const), { runId: "r" });
  });
  return { asked, answers };
}

/** Gives each kind what a person would give to it. */
function answer(asked: AskedQuestion): void {
  switch (asked.kind) {
    case "approvals":
      return void asked.answer(asked.question.actions.map(() => ({ type: "approve" })));
    case "approval":
      return void asked.answer({ type: "reject", message: "No." });
    case "agent_inbox":
      return void asked.answer({ type: "accept" });
    case "elicitation":
      return void asked.answer([{ action: "accept", content: { size: "s" } }]);
    case "ask_user":
      return void asked.answer(["blue"]);
    case "form":
      return void asked.answer({ size: "s" });
    case "options":
      return void asked.answer(asked.question.options[0]?.value ?? null);
    case "yes_no":
      return void asked.answer(true);
    case "draft":
      return void asked.answer(`${asked.question.draft}!`);
    case "action":
      return void asked.answer({ decision: "approve", changed: { to: "Ann" } });
    case "copilotkit":
      return void asked.answer("words");
    case "breakpoint":
      return void asked.answer(null);
    case "other":
      return void asked.answer({ any: 1 });
  }
}

const SIZE = { type: "object", properties: { size: { type: "string" } }, required: ["size"] };

it.each<[kind: AskedQuestion["kind"], raw: Json, answer: Json, schema?: object]>([
  ["approvals", { action_requests: [{ name: "pay", args: {} }] }, { decisions: [{ type: "approve" }] }],
  [
    "agent_inbox",
    [{ action_request: { action: "pay", args: { a: 1 } }, config: { allow_accept: true } }],
    [{ type: "accept", args: { action: "pay", args: { a: 1 } } }],
  ],
  [
    "elicitation",
    { mode: "form", message: "Which?", requestedSchema: SIZE },
    { action: "accept", content: { size: "s" } },
  ],
  ["ask_user", { questions: [{ id: "colour", prompt: "Which?" }] }, { answers: { colour: "blue" } }],
  ["form", { message: "Which size?" }, { size: "s" }, SIZE],
  ["options", { message: "Which?", options: ["a", "b"] }, "a"],
  ["yes_no", "Go on?", true, { type: "boolean" }],
  ["draft", { instruction: "Improve it.", draft: "Rivers" }, "Rivers!"],
  ["action", { action: "send", to: "Bob" }, { to: "Ann", action: "approve" }],
  ["other", { what: 1 }, { any: 1 }],
])("makes of what a person gives to %s an answer that the graph takes", (kind, raw, expected, schema) => {
  const { asked, answers } = ask(raw, schema);
  expect(asked.kind).toBe(kind);
  answer(asked);
  expect(answers).toEqual([expected]);
  expect(validateResponse(asked.question, expected)).toBeNull();
});

it("declines in the question's own words, and has no words where the question has none", () => {
  const { asked, answers } = ask({ mode: "form", message: "Which?", requestedSchema: SIZE });
  asked.dismiss?.();
  expect(answers).toEqual([{ action: "cancel" }]);
  expect(ask("Why?").asked.dismiss).toBeUndefined();
});

it("reads what other services ask, and until when", () => {
  const { question, expiresAt } = readInterrupt({
    id: "q",
    reason: "confirmation",
    message: "Go on?",
    expiresAt: "2026-01-01T00:00:00Z",
  });
  expect(question.kind).toBe("yes_no");
  expect(expiresAt).toBe(Date.UTC(2026, 0, 1));
});
