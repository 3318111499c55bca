import { describe, expect, it } from "vitest";
import { allowedKeys } from "./thread-address.js";

const KEYS = ["messages", "todos", "_private", "jumpTo"];

describe("The keys that a schema allows", () => {
  it("are those it names", () => {
    expect(allowedKeys({ type: "object", properties: { todos: {}, other: {} } }, KEYS)).toEqual(["todos"]);
  });

  it("are all where it names none", () => {
    expect(allowedKeys({ type: "object" }, KEYS)).toEqual(KEYS);
    expect(allowedKeys({ type: "object", properties: {} }, KEYS)).toEqual(KEYS);
  });

  it("are all but those it refuses where it allows more than it names", () => {
    const schema = {
      properties: { messages: {} },
      patternProperties: { "^(_|jumpTo$)": false },
      additionalProperties: true,
    };
    expect(allowedKeys(schema, KEYS)).toEqual(["messages", "todos"]);
    expect(allowedKeys({ ...schema, properties: { _private: {} } }, KEYS)).toContain("_private");
  });
});
