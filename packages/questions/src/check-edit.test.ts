import { expect, it } from "vitest";
import { validateEdit } from "./check-edit.js";

const schema = {
  type: "object",
  properties: {
    to: { type: "array", items: { type: "string" } },
    answer: { $ref: "#/definitions/{}" },
  },
  required: ["to", "answer"],
  definitions: { "{}": { type: "object" } },
};

it("takes values that fit, whether or not others are there", () => {
  expect(validateEdit(schema, {}, { to: ["ann"] })).toBeNull();
  expect(validateEdit(schema, { to: [] }, { answer: { a: 1 } })).toBeNull();
});

it("names the place and the problem of the first that does not", () => {
  expect(validateEdit(schema, { to: [] }, { to: ["ann", 3] })).toEqual({
    problem: 'The value type "number" is invalid. Expected "string".',
    path: "to.1",
  });
  expect(validateEdit(schema, {}, { answer: null })).toMatchObject({ path: "answer" });
});

it("leaves a value to the graph where the schema refuses the one that is there", () => {
  expect(validateEdit(schema, { answer: "half way" }, { answer: null })).toBeNull();
});
