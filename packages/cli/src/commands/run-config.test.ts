import { describe, expect, it } from "vitest";
import { configOf } from "./run.js";

describe("throughline run --config and --recursion-limit", () => {
  it("make one configuration, in which the flag wins", () => {
    expect(configOf(undefined, undefined)).toBeUndefined();
    expect(configOf(undefined, "100")).toEqual({ recursion_limit: 100 });
    expect(configOf('{"recursion_limit":1,"configurable":{"tone":"dry"}}', "100")).toEqual({
      recursion_limit: 100,
      configurable: { tone: "dry" },
    });
  });

  it.each([
    [undefined, "many", "--recursion-limit: "],
    [undefined, "0", "--recursion-limit: "],
    ["{", undefined, "--config must be JSON"],
    ['{"recursionLimit":1}', undefined, "--config: "],
  ])("refuse %s and %s in one line", (json, limit, sentence) => {
    expect(() => configOf(json, limit)).toThrow(sentence);
  });
});
