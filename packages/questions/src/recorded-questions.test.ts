import { readFileSync } from "node:fs";
import type { Json, JsonObject } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import {
  adaptResponse,
  dismissResponse,
  type Question,
  readInterruptRequest,
  toAgUiForm,
  validateResponse,
} from "./index.js";

interface Recorded {
  readonly value: Json;
  readonly response_schema?: JsonObject;
}
interface Answered extends Recorded {
  readonly answers: readonly { readonly answer: Json; readonly thrown: string | null }[];
}

function recording<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../fixtures/${name}.json`, import.meta.url), "utf8"));
}

const asked = ({ value, response_schema }: Recorded): Question =>
  readInterruptRequest(value, response_schema);

describe.each(["human-in-the-loop", "response-schema"])("%s, as recorded", (name) => {
  const recorded = recording<Answered>(name);

  it.each(recorded.answers.map(({ answer, thrown }) => [JSON.stringify(answer), answer, thrown] as const))(
    "is checked as the graph judged %s",
    (_, answer, thrown) => {
      expect(validateResponse(asked(recorded), answer) === null).toBe(thrown === null);
    },
  );
});

describe("Approvals of LangChain's middleware", () => {
  const question = asked(recording<Answered>("human-in-the-loop"));

  it("are read with the policy of each call", () => {
    expect(question).toMatchObject({
      kind: "approvals",
      message: "Approve 2 calls: pay, tell?",
      spelling: "camel",
      actions: [
        { name: "pay", args: { to: "ada", amount: 3 }, allowed: ["approve", "edit"] },
        { name: "tell", allowed: ["approve", "edit", "reject"] },
      ],
    });
  });

  it("name the decision that does not fit", () => {
    const decisions = [{ type: "approve" }, { type: "respond", message: "hi" }];
    expect(validateResponse(question, { decisions })).toEqual({
      problem: "respond is not allowed for tell. Allowed: approve, edit, reject.",
      path: "decisions.1.type",
    });
  });

  it("take an edit in the other spelling", () => {
    const action = { name: "pay", args: { to: "bob", amount: 1 } };
    const sent = { decisions: [{ type: "edit", edited_action: action }, { type: "approve" }] };
    const adapted = adaptResponse(question, sent);
    expect(adapted).toEqual({ decisions: [{ type: "edit", editedAction: action }, { type: "approve" }] });
    expect(validateResponse(question, adapted)).toBeNull();
  });

  it("can't be dismissed where a call may not be rejected", () => {
    expect(dismissResponse(question)).toBeUndefined();
  });
});

describe("Approvals of deepagents", () => {
  const { own, subagent } = recording<{ own: Recorded; subagent: Recorded }>("interrupt-on");

  it("are asked of a stock client as a call of a tool", () => {
    expect(toAgUiForm(asked(subagent))).toMatchObject({
      reason: "tool_call",
      message: "Approve file_record?",
      responseSchema: { required: ["approved"] },
    });
    expect(toAgUiForm(asked(own)).responseSchema).toMatchObject({
      properties: { decisions: { minItems: 2, maxItems: 2 } },
    });
  });

  it("are all rejected when the question is dismissed", () => {
    expect(dismissResponse(asked(own))).toEqual({ decisions: [{ type: "reject" }, { type: "reject" }] });
  });
});

describe("A decision the package does not know", () => {
  const batch = (more: JsonObject): Question =>
    readInterruptRequest({ action_requests: [{ name: "pay", args: {} }], ...more });
  const answer = { decisions: [{ type: "switch_manual" }] };

  it("is passed through unless the policy excludes it", () => {
    expect(validateResponse(batch({}), answer)).toBeNull();
    const policy = (allowed_decisions: string[]) =>
      batch({ review_configs: [{ action_name: "pay", allowed_decisions }] });
    expect(validateResponse(policy(["approve", "switch_manual"]), answer)).toBeNull();
    expect(validateResponse(policy(["approve"]), answer)).toMatchObject({ path: "decisions.0.type" });
  });
});
