import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changedPaths } from "./json-tree";

const marks = (before: Parameters<typeof changedPaths>[0], after: Parameters<typeof changedPaths>[0]) =>
  Object.fromEntries(changedPaths(before, after));

describe("what changed in a state", () => {
  it("is the value itself, and whatever holds it", () => {
    const before = { settings: { every: 60, watch: ["a"] }, count: 1 };
    const after = { settings: { every: 10, watch: ["a"] }, count: 1 };
    expect(marks(before, after)).toEqual({ "": "within", "/settings": "within", "/settings/every": "self" });
  });

  it("is what came, at its place", () => {
    expect(marks({ todos: ["a"] }, { todos: ["a", "b"] })).toEqual({
      "": "within",
      "/todos": "within",
      "/todos/1": "self",
    });
  });

  it("is what held something that went", () => {
    expect(marks({ files: { a: 1, b: 2 } }, { files: { a: 1 } })).toEqual({ "": "within", "/files": "self" });
  });

  it("writes keys as JSON Pointer does", () => {
    expect(marks({}, { "a/b~c": 1 })).toMatchObject({ "/a~1b~0c": "self" });
  });

  it("is nothing where all is equal, however it came", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.parse(JSON.stringify(value));
        expect(changedPaths(json, structuredClone(json)).size).toBe(0);
      }),
    );
  });
});
