import type { Json, JsonObject } from "@throughline/ai-core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  adaptResponse,
  describeResponse,
  dismissResponse,
  readBreakpoint,
  readInterruptRequest,
  respondToApproval,
  toAgUiForm,
  validateResponse,
} from "./index.js";

const KLM = { airline: "KLM", price: "$650", stops: 0 };
const UNITED = { airline: "United", price: "$720", stops: 1 };

function optionsOf(value: Json, schema?: JsonObject) {
  const question = readInterruptRequest(value, schema);
  return question.kind === "options" ? question.options : [];
}

describe("readQuestion", () => {
  it("names the recommended option, and answers with the option itself", () => {
    expect(optionsOf({ message: "Which?", options: [UNITED, KLM], recommendation: KLM })).toEqual([
      { label: "United", detail: "$720 · 1", value: UNITED, isRecommended: false },
      { label: "KLM", detail: "$650 · 0", value: KLM, isRecommended: true },
    ]);
  });

  it("answers with the value of a choice that has one", () => {
    const options = optionsOf({
      options: [{ label: "Go on", value: "continue" }, "stop"],
      recommended: "continue",
    });
    expect(options.map(({ label, value, isRecommended }) => [label, value, isRecommended])).toEqual([
      ["Go on", "continue", true],
      ["stop", "stop", false],
    ]);
  });

  it.each<[string, Json, JsonObject | undefined, string]>([
    ["a schema of booleans", {}, { type: "boolean" }, "yes_no"],
    ["a schema that is a choice", {}, { enum: ["a", "b"] }, "options"],
    ["any other schema", {}, { type: "number" }, "form"],
    ["a schema inside the value", { responseSchema: { type: "number" } }, undefined, "form"],
    ["a confirmation of AG-UI", { reason: "confirmation", message: "Sure?" }, undefined, "yes_no"],
    ["a text that asks yes or no", "Ready. Should I go on?", undefined, "yes_no"],
    ["a text that asks for more", "Which of them should I take?", undefined, "other"],
    ["a list of approvals with nothing in it", { actionRequests: [] }, undefined, "other"],
    ["nothing", null, undefined, "other"],
  ])("reads %s", (_, value, schema, kind) => {
    expect(readInterruptRequest(value, schema).kind).toBe(kind);
  });

  it("finds words to ask with", () => {
    expect(readInterruptRequest("Go on then").message).toBe("Go on then");
    expect(readInterruptRequest({ question: "Really?" }).message).toBe("Really?");
    expect(readInterruptRequest({}).message).toContain("needs an answer");
    expect(readBreakpoint(["tools"]).message).toBe("Paused before tools.");
  });

  it("pairs policies by position, then by name, and offers approve and reject without one", () => {
    const question = readInterruptRequest({
      action_requests: [{ name: "a" }, { name: "b" }, { name: "c" }],
      review_configs: [
        { action_name: "b", allowed_decisions: ["edit"] },
        { action_name: "a", allowed_decisions: ["approve"] },
      ],
    });
    expect(question.kind === "approvals" && question.actions.map(({ allowed }) => allowed)).toEqual([
      ["approve"],
      ["edit"],
      undefined,
    ]);
  });
});

describe("checkAnswer", () => {
  it("names the innermost place that does not fit a schema", () => {
    const schema: JsonObject = {
      $defs: { size: { enum: ["s", "m"] } },
      type: "object",
      properties: { items: { type: "array", items: { $ref: "#/$defs/size" } } },
    };
    expect(validateResponse(readInterruptRequest({}, schema), { items: ["s", "xl"] })?.path).toBe("items.1");
    expect(validateResponse(readInterruptRequest({}, schema), { items: ["s"] })).toBeNull();
  });

  it("refuses nothing by a schema it can't read", () => {
    expect(
      validateResponse(readInterruptRequest({}, { $ref: "https://example.com/elsewhere" }), 1),
    ).toBeNull();
    expect(validateResponse(readInterruptRequest({}, { $ref: "#" }), 1)).toBeNull();
  });
});

describe("adaptAnswer", () => {
  it("reads JSON from clients that answer in text only, where a text is no answer", () => {
    const batch = readInterruptRequest({ action_requests: [{ name: "pay", args: {} }] });
    expect(adaptResponse(batch, '{"decisions":[{"type":"approve"}]}')).toEqual({
      decisions: [{ type: "approve" }],
    });
    expect(adaptResponse(readInterruptRequest("Name it"), "7")).toBe("7");
  });
});

describe("AG-UI's own questions", () => {
  const responseSchema: JsonObject = {
    type: "object",
    properties: { approved: { type: "boolean" }, editedArgs: { type: "object" } },
    required: ["approved"],
  };

  it("about a call are answered with approved, and with the arguments whole where they are edited", () => {
    const question = readInterruptRequest("Pay?", responseSchema, { reason: "tool_call", toolCallId: "c" });
    if (question.kind !== "approval") throw new Error(question.kind);
    expect(question).toMatchObject({ toolCallId: "c", action: { allowed: ["approve", "edit", "reject"] } });
    const edited = { approved: true, editedArgs: { amount: 4 } };
    expect(respondToApproval(question, { type: "edit", args: { amount: 4 } })).toEqual(edited);
    // The schema has no field for the reason.
    expect(respondToApproval(question, { type: "reject", message: "No." })).toEqual({ approved: false });
    expect(adaptResponse(question, edited)).toEqual(edited);
    expect(validateResponse(question, edited)).toBeNull();
    expect(validateResponse(question, { type: "approve" })).not.toBeNull();
    expect(toAgUiForm(question).responseSchema).toBe(responseSchema);
    expect(dismissResponse(question)).toEqual({ approved: false });
  });

  it("that confirm are answered in the object that the schema wants", () => {
    const { editedArgs: _, ...properties } = responseSchema.properties as JsonObject;
    const question = readInterruptRequest({ reason: "confirmation" }, { ...responseSchema, properties });
    expect(question).toMatchObject({ kind: "yes_no", yes: { approved: true }, no: { approved: false } });
    expect(validateResponse(question, adaptResponse(question, true))).toBeNull();
    expect(readInterruptRequest({ reason: "confirmation" }, responseSchema).kind).toBe("form");
  });
});

it("reads, asks, adapts, checks, dismisses and words whatever it is given", () => {
  const keys = fc.constantFrom(
    "action_requests",
    "actionRequests",
    "review_configs",
    "type",
    "questions",
    "requests",
    "options",
    "fields",
    "action_request",
    "config",
    "args",
    "name",
    "mode",
    "decisions",
    "answers",
    "response_schema",
    "reason",
    "responses",
  );
  const words = fc.constantFrom(
    "ask_user",
    "mcp_elicitation",
    "tool_approval",
    "form",
    "edit",
    "approve",
    "",
  );
  const { json } = fc.letrec<{ json: Json }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 5 },
      fc.constant(null),
      fc.boolean(),
      fc.integer(),
      words,
      fc.array(tie("json"), { maxLength: 3 }),
      fc.dictionary(keys, tie("json"), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(json, json, (value, answer) => {
      const question = readInterruptRequest(value);
      toAgUiForm(question);
      describeResponse(question, answer);
      validateResponse(question, adaptResponse(question, answer));
      const dismissed = dismissResponse(question);
      if (dismissed !== undefined && !question.schema)
        expect(validateResponse(question, dismissed)).toBeNull();
    }),
    { numRuns: 2_000 },
  );
});
