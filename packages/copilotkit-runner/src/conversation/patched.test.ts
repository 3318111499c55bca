import { describe, expect, it } from "vitest";
import { applyDelta } from "./patched.js";

describe("A patched document", () => {
  const document = { list: [{ n: 1 }, { n: 2 }], files: { "/a": { text: "a" } }, "a/b": { c: 1 } };
  const before = structuredClone(document);

  it("shares with the one before what no operation reaches, and leaves that one as it was", () => {
    const next = applyDelta(document, [
      { op: "replace", path: "/list/0/n", value: 5 },
      { op: "add", path: "/list/-", value: { n: 3 } },
      { op: "move", from: "/a~1b/c", path: "/list/1/c" },
    ]);
    expect(next).toEqual({
      list: [{ n: 5 }, { n: 2, c: 1 }, { n: 3 }],
      files: { "/a": { text: "a" } },
      "a/b": {},
    });
    expect(Object(next).files).toBe(document.files);
    expect(document).toEqual(before);
  });

  it("does not change what a patch added, when a later operation does", () => {
    const value = { n: 3 };
    const next = applyDelta(document, [
      { op: "add", path: "/list/-", value },
      { op: "replace", path: "/list/2/n", value: 4 },
    ]);
    expect(Object(next).list[2]).toEqual({ n: 4 });
    expect(value).toEqual({ n: 3 });
  });

  it("is none where one operation does not apply, or the patch is no list", () => {
    expect(
      applyDelta(document, [
        { op: "remove", path: "/list/0" },
        { op: "remove", path: "/nothing" },
      ]),
    ).toBeUndefined();
    expect(applyDelta(document, { op: "remove" })).toBeUndefined();
    expect(applyDelta(document, undefined)).toBeUndefined();
    expect(document).toEqual(before);
  });
});
