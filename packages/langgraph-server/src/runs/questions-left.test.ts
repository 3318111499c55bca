import type { GraphFinal, Interrupt } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { openInterruptsAfter } from "./checkpoint-reads.js";

const asked = (interrupt_id: string): Interrupt => ({ interrupt_id, value: "?", node: null, ns: [] });
const ended = (status: GraphFinal["status"], ...open: string[]): GraphFinal => ({
  ok: status === "success",
  status,
  interrupts: open.map(asked),
});
const answering = { kind: "resume", answers: { a: 1 } } as const;
const left = (
  final: GraphFinal,
  shown: readonly string[] = ["a", "b"],
  start: Parameters<typeof openInterruptsAfter>[1] = answering,
) =>
  openInterruptsAfter(final, start, { interrupts: shown.map(asked) }).map(({ interrupt_id }) => interrupt_id);

describe("P81: a run that answers one of two questions", () => {
  it.each(["error", "cancelled"] as const)("and ends as %s leaves the other", (status) => {
    expect(left(ended(status, "b"))).toEqual(["b"]);
    // The checkpoint could not be read, or a server still lists what was answered.
    expect(left(ended(status))).toEqual(["b"]);
    expect(left(ended(status, "a", "b"))).toEqual(["b"]);
  });

  it("leaves what it asks when it waits, and nothing when it is done", () => {
    expect(left(ended("interrupted", "b", "c"))).toEqual(["b", "c"]);
    expect(left(ended("success", "b"))).toEqual([]);
  });

  it("says nothing of questions that new input set aside", () => {
    expect(left(ended("error"), ["a"], { kind: "input", messages: [] })).toEqual([]);
  });
});
