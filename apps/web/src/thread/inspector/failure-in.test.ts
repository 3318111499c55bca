import { describe, expect, it } from "vitest";
import { failureIn } from "./log-row";

const OWN = { name: "RangeError", message: "no numbers", stack: "RangeError: no numbers\n    at sum" };
const read = (entry: object) => failureIn(JSON.stringify(entry));

describe("failureIn", () => {
  it("reads an error of the log, with the graph's own words where they are told", () => {
    const payload = { class: "node", node: "sum", ...OWN };
    expect(read({ type: "error", seq: 4, payload })).toEqual(payload);
    expect(read({ type: "error", payload: { class: "tool", node: null, message: "It failed." } })).toEqual({
      class: "tool",
      node: null,
      message: "It failed.",
    });
  });

  it("reads how a run ended", () => {
    const error = { code: "run_failed", message: "Ours.", class: "node", node: "sum", own: OWN };
    expect(read({ type: "run_end", payload: { status: "error", error } })).toEqual({
      code: "run_failed",
      class: "node",
      node: "sum",
      ...OWN,
    });
  });

  it("reads a frame that tells of it", () => {
    const metadata = { throughline: { runId: "r", class: "node", node: "sum", own: OWN } };
    const frame = { type: "RUN_ERROR", message: "Ours.", code: "run_failed", metadata };
    expect(read(frame)).toMatchObject({ code: "run_failed", node: "sum", ...OWN });
  });

  it("finds none in anything else", () => {
    expect(read({ type: "run_end", payload: { status: "success" } })).toBeUndefined();
    expect(read({ type: "llm_token", payload: { text: "error" } })).toBeUndefined();
    expect(failureIn("no JSON")).toBeUndefined();
  });
});
