import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { note } from "../../conformance/log-scene.js";
import { fitEnvelope, joinEnvelope, splitByTemplate, UNIT_SEPARATOR } from "./entry-templates.js";

const token = (ts: number, seq: number, text: string) =>
  JSON.stringify({
    ...note({ account: "a", threadId: "t" }, ""),
    ts,
    seq,
    type: "llm_token",
    payload: { message_id: "m-1", text, tool_call: { index: 0, id: "c" }, logprob: -0.5, synthetic: true },
  });

describe("An envelope's text", () => {
  it("is cut at its time, its count and what the payload says, not at ids, names and flags", () => {
    const { parts, holes } = splitByTemplate(token(1.5, 7, 'a "quoted" \\ word'));
    expect(holes).toEqual(["1.5", "7", '"a \\"quoted\\" \\\\ word"', '{"index":0,"id":"c"}', "-0.5"]);
    expect(parts.join("")).toContain('"message_id":"m-1"');
    expect(parts).toEqual(splitByTemplate(token(2, 8, "another")).parts);
  });

  it("fits the parts of a neighbour without being cut, and those of no other form", () => {
    const { parts } = splitByTemplate(token(1.5, 7, "a"));
    const next = token(2, 8, ' of "text":","tool_call": }}');
    expect(fitEnvelope(next, parts)).toEqual(splitByTemplate(next).holes);
    expect(joinEnvelope(parts, fitEnvelope(next, parts) ?? [])).toBe(next);
    for (const other of [
      next.replace("m-1", "m-2"),
      next.replace("llm", "xxx"),
      next.slice(0, -1),
      "{}",
      "",
    ]) {
      expect(fitEnvelope(other, parts)).toBeUndefined();
    }
  });

  it("joins to the same text again, whatever JSON it is, and has no separator of ours", () => {
    const json = fc.dictionary(
      fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("ts", "seq", "payload", "a_id", "name")),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(json, json, (envelope, payload) => {
        const text = JSON.stringify({ ...envelope, ts: 1, payload, seq: 2 });
        const { parts, holes } = splitByTemplate(text);
        expect(joinEnvelope(parts, holes)).toBe(text);
        const fitting = fitEnvelope(text, parts);
        expect(fitting && joinEnvelope(parts, fitting)).toBe(text);
        expect(parts.length).toBe(holes.length + 1);
        expect([...parts, ...holes].join("")).not.toContain(UNIT_SEPARATOR);
      }),
      { numRuns: 200 },
    );
  });
});
