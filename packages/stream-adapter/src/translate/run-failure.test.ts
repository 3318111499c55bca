import { type GraphFinal, ThroughlineError } from "@throughline/ai-core";
import { readGraphItem } from "@throughline/coerce";
import { describe, expect, it } from "vitest";

import { agUi, type DriveOptions, drive } from "../testing/drive.js";
import { readItems } from "../testing/recording.js";

/** As it was recorded: `boom` throws inside `researcher` while `slow` runs beside it. The last item is what was thrown. */
const recorded = readItems("captures/inproc.failing.jsonl").flatMap((item) => readGraphItem(item) ?? []);
const chunks = recorded.filter(({ mode }) => mode !== "error");
const thrown = recorded.find(({ mode }) => mode === "error")?.data;

function failing(cause: unknown = thrown, options: DriveOptions = {}) {
  const error = new ThroughlineError("run_failed", "The graph failed while it ran.", { cause });
  return drive(chunks, { ...options, final: { ok: false, status: "error", error, ...options.final } });
}

const steps = (envelopes: ReturnType<typeof drive>) =>
  Object.fromEntries(
    envelopes.flatMap(({ type, payload }) => (type === "step_end" ? [[payload.node, payload.status]] : [])),
  );

describe("a graph that fails", () => {
  it("P86: ends the step that threw and all around it as failed, and what ran beside it as cancelled", () => {
    expect(steps(failing())).toEqual({
      quiet: "ok",
      plan: "ok",
      boom: "error",
      researcher: "error",
      slow: "cancelled",
    });
    expect(failing().find(({ type }) => type === "tool_end")).toMatchObject({ payload: { status: "error" } });
  });

  it("says which node threw, where it is, and what kind of failure it was", () => {
    const where = {
      class: "node",
      node: "boom",
      ns: [expect.stringMatching(/^researcher:/), expect.stringMatching(/^boom:/)],
    };
    const envelopes = failing();
    expect(envelopes.find(({ type }) => type === "error")).toMatchObject({
      call_id: expect.stringMatching(/\|boom:/),
      payload: where,
    });
    expect(envelopes.at(-1)).toMatchObject({ payload: { error: where } });
    expect(envelopes).toContainEqual(
      expect.objectContaining({
        type: "step_end",
        payload: { node: "boom", status: "error", class: "node" },
      }),
    );
  });

  it("tells a client code, class and node, and the call that failed its error", () => {
    const events = agUi(failing(), { line: "1.0", interrupts: "standard", calls: true });
    expect(events.at(-1)).toMatchObject({
      type: "RUN_ERROR",
      code: "run_failed",
      metadata: { throughline: { code: "run_failed", class: "node", node: "boom" } },
    });
    expect(JSON.stringify(events)).toContain('"throughline.error"');
    const told = events.filter((event) => event.type === "CUSTOM" && event.name === "throughline.calls");
    expect(JSON.stringify(told)).toContain(
      '"error":{"message":"The graph failed while it ran.","class":"node","node":"boom"}',
    );
  });

  it("P21: keeps the graph's own words to itself, unless they are to be shown", () => {
    expect(JSON.stringify(failing())).not.toMatch(/no plan|TypeError/);
    const shown = failing(thrown, { showErrors: true });
    expect(shown.find(({ type }) => type === "error")).toMatchObject({
      payload: { name: "TypeError", message: "no plan" },
    });
    expect(shown.at(-1)).toMatchObject({
      payload: { error: { message: "researcher failed in node `boom`: TypeError: no plan" } },
    });
  });

  it("P21: tells name, message and stack apart from the code where they are to be shown, and cuts what is long", () => {
    const error = Object.assign(new TypeError("x".repeat(3_000)), {
      pregelTaskId: (thrown as { pregelTaskId: string }).pregelTaskId,
      stack: `TypeError\n${"    at there\n".repeat(1_000)}`,
    });
    const hidden = JSON.stringify(failing(error));
    expect(hidden).not.toContain('"own"');
    expect(hidden).not.toContain("at there");
    const { own } = Object(failing(error, { showErrors: true }).at(-1)?.payload).error;
    expect(own).toEqual({
      name: "TypeError",
      message: `${"x".repeat(2_000)}…`,
      stack: expect.stringContaining("at there"),
    });
    expect(own.stack).toHaveLength(4_001);
    const events = agUi(failing(error, { showErrors: true }), {
      line: "1.0",
      interrupts: "standard",
      calls: true,
    });
    expect(events.at(-1)).toMatchObject({ metadata: { throughline: { own } } });
    const calls = JSON.stringify(
      events.filter((event) => event.type === "CUSTOM" && event.name === "throughline.calls"),
    );
    expect(calls).toContain('"name":"TypeError"');
    expect(calls).toContain('"code":"run_failed"');
  });

  it("tells a thrown value that is no error as JSON, where it may be shown", () => {
    const { pregelTaskId } = thrown as { pregelTaskId: string };
    const value = { code: 42, why: "no error", pregelTaskId };
    expect(JSON.stringify(failing(value))).not.toContain("no error");
    expect(failing(value, { showErrors: true }).at(-1)).toMatchObject({
      payload: { error: { message: expect.stringContaining('Thrown value: {"code":42,"why":"no error"}') } },
    });
    expect(failing(null, { showErrors: true }).at(-1)).toMatchObject({
      payload: { error: { message: "The graph failed while it ran." } },
    });
  });

  it("tells its own words, and the stack, in the debug profile", () => {
    const error = Object.assign(new TypeError("no plan"), {
      pregelTaskId: (thrown as { pregelTaskId: string }).pregelTaskId,
    });
    const payload = failing(error, { profile: "debug" }).find(({ type }) => type === "error")?.payload;
    expect(payload).toMatchObject({ message: "no plan", stack: expect.stringContaining("run-failure.test") });
  });

  it("tells from the error's shape what failed", () => {
    const limited = { ...(thrown as object), name: "RateLimitError", status: 429 };
    expect(failing(limited).at(-1)).toMatchObject({ payload: { error: { class: "model", node: "boom" } } });
  });

  it("names no node where it was ended by us", () => {
    const error = new ThroughlineError("too_large", "The run wrote too much.");
    const final: Partial<GraphFinal> = { ok: false, status: "error", error };
    const envelopes = drive(chunks, { final });
    expect(envelopes.at(-1)).toMatchObject({
      payload: { error: { code: "too_large", message: "The run wrote too much.", node: null } },
    });
    expect(steps(envelopes)).toMatchObject({ boom: "error", slow: "error" });
  });

  it("that a server tells of is known by the tasks that left nothing", () => {
    const data = { error: "TypeError", message: "no plan" };
    const error = new ThroughlineError("run_failed", "The graph failed while it ran.");
    const envelopes = drive([...chunks, { ns: [], mode: "error", data }], {
      showErrors: true,
      final: { ok: false, status: "error", error },
    });
    expect(envelopes.at(-1)).toMatchObject({
      payload: { error: { node: "boom", message: "researcher failed in node `boom`: TypeError: no plan" } },
    });
    expect(envelopes.filter(({ type }) => type === "error")).toHaveLength(1);
  });

  it("ends steps that left nothing well where the run does", () => {
    const quiet = [
      { ns: [], mode: "tasks", data: { id: "t1", name: "quiet", input: {} } },
      { ns: [], mode: "tasks", data: { id: "t1", name: "quiet", result: {}, interrupts: [] } },
    ];
    expect(steps(drive(quiet))).toEqual({ quiet: "ok" });
    expect(steps(drive(quiet, { final: { status: "interrupted" } }))).toEqual({ quiet: "ok" });
  });
});
