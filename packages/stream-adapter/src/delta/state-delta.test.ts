import type { JsonObject } from "@throughline/ai-core";
import { toPlain } from "@throughline/coerce";
import { applyPatch } from "@throughline/reading";
import fc from "fast-check";
import jsonPatch from "fast-json-patch";
import { describe, expect, it } from "vitest";
import { diffState } from "./state-delta.js";

const key = fc.constantFrom("a", "b/c", "d~e", "", "0", "-");
const tree = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.integer(),
    fc.string(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 4 }),
    tie("object"),
  ),
  object: fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: true }),
}));
const state = tree.object.map((value) => toPlain(value) as JsonObject);

describe("a state's delta", () => {
  it("turns the one state into the other, whoever applies it", () => {
    fc.assert(
      fc.property(state, state, (before, after) => {
        const change = diffState(before, after);
        if (change.kind === "none") {
          expect(after).toEqual(before);
          return;
        }
        if (change.kind === "snapshot") return;
        const frozen = JSON.stringify(before);
        expect(applyPatch(before, change.ops)).toEqual(after);
        expect(JSON.stringify(before)).toBe(frozen);
        expect(
          jsonPatch.applyPatch(structuredClone(before), structuredClone(change.ops), true).newDocument,
        ).toEqual(after);
      }),
      { numRuns: 1_000 },
    );
  });

  it("is a snapshot when there was no state, or when saying the change would take more room", () => {
    expect(diffState({}, { a: 1 }).kind).toBe("snapshot");
    const rows = (from: number) => Array.from({ length: 300 }, (_, index) => ({ id: from + index }));
    expect(diffState({ rows: rows(0) }, { rows: rows(1) }).kind).toBe("snapshot");
    expect(diffState({ text: "x".repeat(3_000) }, { text: "y".repeat(3_000) }).kind).toBe("snapshot");
    expect(diffState({ a: 1, b: "x".repeat(3_000) }, { a: 2, b: "x".repeat(3_000) }).kind).toBe("delta");
  });
});
