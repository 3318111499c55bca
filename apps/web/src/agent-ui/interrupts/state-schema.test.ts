import { expect, it } from "vitest";
import { fieldsOf, keyOf } from "../json-schema/schema-fields";
import { stateSchema } from "../json-schema/state-schema";

const kinds = (schema: Parameters<typeof fieldsOf>[0]) =>
  Object.fromEntries(fieldsOf(schema).map((field) => [keyOf(field), field.kind]));

it("is what the graph publishes, without messages", () => {
  const properties = { messages: {}, topic: { type: "string" }, size: { enum: ["s", "m"] } };
  const schema = stateSchema({ type: "object", properties }, { topic: "sea" });
  expect(kinds(schema)).toEqual({ topic: "text", size: "choice" });
});

it("is what values look like where the graph says nothing of them", () => {
  const published = { properties: { topic: {}, notes: { description: "Kept." }, left: {} } };
  const values = { topic: "sea", notes: ["a"], count: 3 };
  expect(kinds(stateSchema(published, values))).toEqual({
    topic: "text",
    notes: "lines",
    left: "json",
    count: "number",
  });
  expect(kinds(stateSchema({}, values))).toEqual({ topic: "text", notes: "lines", count: "number" });
});

it("asks for no value that is not there, and lets a text be emptied", () => {
  const published = {
    properties: { topic: { type: "string" }, count: { type: "number" }, later: { type: "number" } },
    required: ["topic", "count", "later"],
  };
  expect(stateSchema(published, { topic: "sea", count: 1 }).required).toEqual(["count"]);
});
