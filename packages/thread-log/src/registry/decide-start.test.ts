import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ThreadRuns } from "./run-registry.js";
import { canonicalJson, decideStart } from "./start-decision.js";

const free: ThreadRuns = {
  same: undefined,
  stopped: false,
  running: undefined,
  queued: [],
  preempting: 0,
  interrupts: [],
};
const input = { start: { kind: "input", messages: [] }, strategy: "reject" } as const;
const resume = { start: { kind: "resume", answers: { i1: true } }, strategy: "reject" } as const;
const open = { interruptId: "i1", answeredBy: undefined, answer: undefined };
const answered = { interruptId: "i1", answeredBy: "r1", answer: "true" };

describe("decideStart", () => {
  it("runs on a free thread", () => {
    expect(decideStart(free, input)).toEqual({ kind: "run" });
  });

  it("R24: rejects by default, enqueues behind everything, preempts before what waits", () => {
    const busy: ThreadRuns = { ...free, running: "r1", queued: ["r2", "r3"], preempting: 1 };
    expect(decideStart(busy, input)).toEqual({ kind: "busy", runId: "r1" });
    expect(decideStart(busy, { ...input, strategy: "enqueue" })).toEqual({
      kind: "queue",
      ahead: 3,
      preempted: undefined,
    });
    expect(decideStart(busy, { ...input, strategy: "preempt" })).toEqual({
      kind: "queue",
      ahead: 2,
      preempted: "r1",
    });
  });

  it("R24: does not overtake a run that waits to be claimed, unless it preempts", () => {
    const waiting: ThreadRuns = { ...free, queued: ["r2"] };
    expect(decideStart(waiting, input)).toEqual({ kind: "busy", runId: "r2" });
    expect(decideStart(waiting, { ...input, strategy: "enqueue" })).toMatchObject({
      kind: "queue",
      ahead: 1,
    });
    expect(decideStart(waiting, { ...input, strategy: "preempt" })).toEqual({ kind: "run" });
  });

  it("R25: is the same run for the same name, and cancelled if its stop came first", () => {
    expect(decideStart({ ...free, same: "r1", running: "r1" }, input)).toEqual({
      kind: "attach",
      runId: "r1",
    });
    expect(decideStart({ ...free, stopped: true, running: "r1" }, input)).toEqual({ kind: "cancel" });
  });

  it("R28: takes an answer to an open interrupt, also before what waits for it", () => {
    expect(decideStart({ ...free, interrupts: [open] }, resume)).toEqual({ kind: "run" });
    expect(decideStart({ ...free, interrupts: [open], queued: ["r2"] }, resume)).toEqual({ kind: "run" });
  });

  it("R28: attaches the same answer and refuses another, or one to no question", () => {
    expect(decideStart({ ...free, interrupts: [answered] }, resume)).toEqual({ kind: "attach", runId: "r1" });
    const other = { ...resume, start: { kind: "resume", answers: { i1: false } } } as const;
    expect(decideStart({ ...free, interrupts: [answered] }, other)).toEqual({
      kind: "conflict",
      interruptIds: ["i1"],
    });
    expect(decideStart(free, resume)).toEqual({ kind: "conflict", interruptIds: ["i1"] });
    const both = { ...resume, start: { kind: "resume", answers: { i1: true, i2: 1 } } } as const;
    const second = { ...open, interruptId: "i2" };
    expect(decideStart({ ...free, interrupts: [answered, second] }, both)).toEqual({
      kind: "conflict",
      interruptIds: ["i1"],
    });
  });

  it("R28: refuses new input while an interrupt is open", () => {
    expect(decideStart({ ...free, interrupts: [open] }, input)).toEqual({
      kind: "interrupt_pending",
      interruptIds: ["i1"],
    });
    expect(decideStart({ ...free, interrupts: [answered] }, input)).toEqual({ kind: "run" });
  });

  it("R28: lets a run that preempts in, because it is the way out", () => {
    expect(decideStart({ ...free, interrupts: [open] }, { ...input, strategy: "preempt" })).toEqual({
      kind: "run",
    });
  });
});

describe("canonicalJson", () => {
  it("does not depend on the order of keys", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).reverse());
        expect(canonicalJson({ deep: [reversed] })).toBe(canonicalJson({ deep: [value] }));
      }),
    );
  });
});
