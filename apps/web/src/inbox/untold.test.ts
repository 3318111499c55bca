import { describe, expect, it } from "vitest";
import { untoldOf } from "./notifications";

describe("Notifications of questions", () => {
  it("leave out what waited before they were wanted", () => {
    expect(untoldOf(undefined, ["a"])).toEqual({ untold: [], told: ["a"] });
  });

  it("come once for each question", () => {
    const first = untoldOf(["a"], ["b", "a"]);
    expect(first.untold).toEqual(["b"]);
    expect(untoldOf(first.told, ["b", "a"]).untold).toEqual([]);
  });

  it("do not remember what was answered", () => {
    expect(untoldOf(["a", "b"], ["b"]).told).toEqual(["b"]);
  });
});
