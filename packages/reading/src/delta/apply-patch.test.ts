import type { JsonObject, PatchOperation } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { applyPatch } from "./apply-patch.js";

const state: JsonObject = { list: [1, 2, { deep: [true] }], "a/b": { "m~n": 1 }, none: null, kept: { x: 1 } };

describe("applyPatch", () => {
  it.each<[string, PatchOperation, JsonObject]>([
    ["adds a key", { op: "add", path: "/new", value: 1 }, { ...state, new: 1 }],
    [
      "replaces through a list",
      { op: "replace", path: "/list/2/deep/0", value: false },
      { ...state, list: [1, 2, { deep: [false] }] },
    ],
    [
      "inserts in a list",
      { op: "add", path: "/list/1", value: 9 },
      { ...state, list: [1, 9, 2, { deep: [true] }] },
    ],
    [
      "appends to a list",
      { op: "add", path: "/list/-", value: 9 },
      { ...state, list: [1, 2, { deep: [true] }, 9] },
    ],
    ["removes from a list", { op: "remove", path: "/list/0" }, { ...state, list: [2, { deep: [true] }] }],
    [
      "reads escaped names",
      { op: "replace", path: "/a~1b/m~0n", value: 2 },
      { ...state, "a/b": { "m~n": 2 } },
    ],
    ["replaces null", { op: "replace", path: "/none", value: 1 }, { ...state, none: 1 }],
    ["replaces the whole", { op: "replace", path: "", value: { all: 1 } }, { all: 1 }],
  ])("%s, and leaves what it was given as it was", (_, op, expected) => {
    const before = structuredClone(state);
    const next = applyPatch(state, [op]);
    expect(next).toEqual(expected);
    expect(state).toEqual(before);
    if (op.path !== "") expect(next?.kept).toBe(state.kept);
  });

  it.each<[string, PatchOperation]>([
    ["replaces what is not there", { op: "replace", path: "/gone", value: 1 }],
    ["removes what is not there", { op: "remove", path: "/gone" }],
    ["goes through what is not there", { op: "add", path: "/gone/x", value: 1 }],
    ["goes through a number", { op: "add", path: "/list/0/x", value: 1 }],
    ["points behind the end of a list", { op: "add", path: "/list/4", value: 1 }],
    ["replaces the place behind the end", { op: "replace", path: "/list/-", value: 1 }],
    ["is no index", { op: "add", path: "/list/01", value: 1 }],
    ["would reach the prototype", { op: "add", path: "/__proto__", value: { bad: 1 } }],
    ["removes everything", { op: "remove", path: "" }],
    ["makes it no object", { op: "replace", path: "", value: [1] }],
  ])("does not fit when it %s", (_, op) => {
    expect(applyPatch(state, [op])).toBeUndefined();
  });

  it("applies none of a delta's operations when one does not fit", () => {
    const fits: PatchOperation = { op: "add", path: "/new", value: 1 };
    expect(applyPatch(state, [fits, { op: "remove", path: "/list/9" }])).toBeUndefined();
    expect(applyPatch(state, [fits, { op: "replace", path: "", value: [1] }, fits])).toBeUndefined();
  });

  it("removes a key", () => {
    expect(applyPatch({ a: 1, b: 2 }, [{ op: "remove", path: "/a" }])).toEqual({ b: 2 });
  });
});
