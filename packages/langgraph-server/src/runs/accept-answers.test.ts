import type { Interrupt, Json } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { acceptResponses } from "./accept-input.js";

const ask = (value: Json, more: Partial<Interrupt> = {}): Interrupt => ({
  interrupt_id: "q",
  value,
  node: "ask",
  ns: ["ask:1"],
  ...more,
});
const BATCH = ask({ actionRequests: [{ name: "pay", args: {} }], reviewConfigs: [] });
const accept = (asked: Interrupt, answer: Json) => acceptResponses({ interrupts: [asked] }, { q: answer }).q;
const dismissed = { __agui_cancelled__: true, interrupt_id: "q" };

describe("An answer", () => {
  it("P80: that the graph can't take is refused, naming the question, the problem and the place", () => {
    expect(() => accept(BATCH, { decisions: ["yes"] })).toThrow(
      expect.objectContaining({
        code: "answer_mismatch",
        status: 422,
        details: {
          interruptId: "q",
          problem: "Expected a decision with a type, got a text.",
          path: "decisions.0",
        },
      }),
    );
    const schema = { response_schema: { type: "number" } };
    expect(() => accept(ask("How many?", schema), "many")).toThrow(/does not fit the question/);
    expect(accept(ask("How many?", schema), 3)).toBe(3);
  });

  it("P80: in another known form is given to the graph in its own", () => {
    expect(accept(BATCH, { approved: false, message: "no" })).toEqual({
      decisions: [{ type: "reject", message: "no" }],
    });
  });

  it("that dismisses a question says so in the question's words, with the mark beside them", () => {
    expect(accept(BATCH, dismissed)).toEqual({ ...dismissed, decisions: [{ type: "reject" }] });
    expect(accept(ask("Anything"), dismissed)).toEqual(dismissed);
  });

  it("to a question that is not open goes on as it is", () => {
    expect(acceptResponses({ interrupts: [] }, { q: "late" })).toEqual({ q: "late" });
  });
});
