import { NO_USAGE } from "@throughline/ai-core";
import { applyEnvelope, emptyThreadProjection } from "@throughline/reading";
import { describe, expect, it } from "vitest";
import { agUi, drive, piece } from "../testing/drive.js";

const used = { usage_metadata: { input_tokens: 10, output_tokens: 1, total_tokens: 11 } };
const end = { response_metadata: { finish_reason: "stop" } };
const answered = (id: string) => piece({ id, content: id, ...end, ...used });
const reported = (envelopes: ReturnType<typeof drive>) =>
  envelopes.find(({ type }) => type === "usage")?.payload;

describe("The usage of a run", () => {
  it("counts every attempt, and the call that an earlier one broke off in", () => {
    const first = drive([answered("m1"), piece({ id: "m2", content: "half" })]);
    // What the log holds of an attempt whose driver died: no ends, no sum.
    const brokenOff = first.slice(0, first.findLastIndex(({ type }) => type === "llm_token") + 1);
    const fold = brokenOff.reduce(applyEnvelope, emptyThreadProjection);
    const second = drive([answered("m3")], { fold });
    expect(reported(second)).toMatchObject({
      input_tokens: 20,
      output_tokens: 2,
      total_tokens: 22,
      model_calls: 3,
    });
    const [terminal] = agUi(second, {}, fold).filter(({ type }) => type === "RUN_FINISHED");
    expect(terminal).toMatchObject({
      metadata: { throughline: { usage: { total_tokens: 22, model_calls: 3 } } },
    });
  });

  it("does not count what another run of the thread used", () => {
    const before = drive([answered("m1")], { runId: "run-0" }).reduce(applyEnvelope, emptyThreadProjection);
    expect(reported(drive([answered("m2")], { fold: before }))).toMatchObject({
      total_tokens: 11,
      model_calls: 1,
    });
  });

  it("counts no message that a node returned whole as a model call", () => {
    const values = { ns: ["agent:1"], mode: "messages" };
    const whole = { type: "ai", id: "m9", content: "said by code" };
    const envelopes = drive([{ ...values, data: [whole, { langgraph_checkpoint_ns: "agent:1" }] }]);
    expect(envelopes.some(({ type }) => type === "llm_end")).toBe(true);
    expect(reported(envelopes)).toMatchObject({ ...NO_USAGE, model_calls: 0 });
    const fold = envelopes.slice(0, -2).reduce(applyEnvelope, emptyThreadProjection);
    expect(fold.usage.model_calls).toBe(0);
  });
});
