import type { JsonObject } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { draftsOf, fieldsOf, presetOf, readDrafts } from "./schema-fields";

const SCHEMA: JsonObject = {
  type: "object",
  properties: {
    settings: {
      type: "object",
      properties: {
        watch: { type: "array", items: { type: "string" }, maxItems: 2 },
        cycleSeconds: { type: "integer", minimum: 1, maximum: 60 },
        mode: { enum: ["calm", "eager"] },
        isLoud: { type: "boolean" },
      },
      required: ["cycleSeconds"],
    },
    notes: { type: ["string", "null"] },
    tree: { type: "array", items: { type: "object" } },
  },
};

describe("fieldsOf", () => {
  it("finds what a form can show, with names a person reads", () => {
    expect(fieldsOf(SCHEMA).map(({ kind, label, isRequired }) => [kind, label, isRequired])).toEqual([
      ["lines", "Watch", false],
      ["number", "Cycle seconds", true],
      ["choice", "Mode", false],
      ["switch", "Is loud", false],
      ["text", "Notes", false],
      ["json", "Tree", false],
    ]);
  });

  it("resolves references, takes what may be nothing for what it may be, and a union of constants for a choice", () => {
    const schema: JsonObject = {
      type: "object",
      $defs: { Size: { type: "integer", minimum: 1, default: 2 } },
      properties: {
        kind: { const: "trip" },
        size: { $ref: "#/$defs/Size" },
        note: { anyOf: [{ type: "string" }, { type: "null" }], default: "none" },
        seat: {
          oneOf: [
            { const: "a", title: "Aisle" },
            { const: "w", title: "Window" },
          ],
        },
        meals: { type: "array", items: { enum: ["lunch", "dinner"] } },
        guests: { type: "array", items: { type: "object" } },
        either: { anyOf: [{ type: "string" }, { type: "integer" }] },
      },
      required: ["kind", "seat"],
    };
    const fields = fieldsOf(schema);
    expect(fields.map(({ kind, label }) => [kind, label])).toEqual([
      ["fixed", "Kind"],
      ["number", "Size"],
      ["text", "Note"],
      ["choice", "Seat"],
      ["choices", "Meals"],
      ["json", "Guests"],
      ["json", "Either"],
    ]);
    expect(fields).toMatchObject([
      {},
      {},
      {},
      { options: ["a", "w"], labels: ["Aisle", "Window"] },
      {},
      {},
      {},
    ]);
    const drafts = draftsOf(fields, presetOf(schema));
    expect(drafts).toMatchObject({ size: "2", note: "none" });
    const filled = { ...drafts, seat: "w", meals: '["dinner"]', guests: '[{"name":"Ann"}]', either: "3" };
    expect(readDrafts(fields, filled)).toEqual({
      value: {
        kind: "trip",
        size: 2,
        note: "none",
        seat: "w",
        meals: ["dinner"],
        guests: [{ name: "Ann" }],
        either: 3,
      },
    });
    expect(readDrafts(fields, { ...filled, guests: "[" })).toMatchObject({
      problems: { guests: "This is not JSON. A text needs quotation marks." },
    });
  });

  it("asks for JSON where a schema refers to itself without end", () => {
    const schema: JsonObject = { $defs: { Loop: { $ref: "#/$defs/Loop" } }, $ref: "#/$defs/Loop" };
    expect(fieldsOf(schema)).toMatchObject([{ kind: "json" }]);
  });

  it("reads a unit at the end of a name as one", () => {
    const schema: JsonObject = { type: "object", properties: { durationMs: { type: "number" } } };
    expect(fieldsOf(schema)).toMatchObject([{ label: "Duration (ms)" }]);
  });

  it("takes a schema that is one value for one field", () => {
    expect(fieldsOf({ type: "number" })).toMatchObject([{ kind: "number", path: [], label: "Your answer" }]);
  });
});

describe("drafts", () => {
  const fields = fieldsOf(SCHEMA);
  const state = { settings: { watch: ["disk"], cycleSeconds: 10, isLoud: true }, notes: "hi" };

  it("begin with what is so, and give it back unchanged", () => {
    expect(readDrafts(fields, draftsOf(fields, state))).toEqual({ value: state });
  });

  it("say what is wrong, by field", () => {
    const drafts = { ...draftsOf(fields, state), "settings.cycleSeconds": "99", "settings.watch": "a\nb\nc" };
    expect(readDrafts(fields, drafts)).toEqual({
      problems: { "settings.cycleSeconds": "No more than 60.", "settings.watch": "No more than 2 lines." },
    });
  });

  it.each([
    ["", "This needs an answer."],
    ["many", "This must be a number."],
    ["1.5", "This must be a whole number."],
    ["0", "No less than 1."],
  ])("refuse %j for a whole number", (text, problem) => {
    const [field] = fieldsOf({ type: "integer", minimum: 1 });
    expect(readDrafts(field ? [field] : [], { "": text })).toEqual({ problems: { "": problem } });
  });

  it("choose a value of the schema as it is there, and may leave it open where nobody insists", () => {
    const fields = fieldsOf({
      type: "object",
      properties: { stars: { enum: [1, 2, null] }, meal: { enum: ["dinner"] } },
      required: ["stars"],
    });
    expect(readDrafts(fields, { stars: "2", meal: "" })).toEqual({ value: { stars: 2 } });
    expect(readDrafts(fields, { stars: "null", meal: "dinner" })).toEqual({
      value: { stars: null, meal: "dinner" },
    });
    expect(readDrafts(fields, { stars: "5", meal: "" })).toEqual({
      problems: { stars: "Choose one of these." },
    });
    expect(draftsOf(fields, { stars: null })).toEqual({ stars: "null", meal: "" });
  });

  it("answer with one value where one was asked for", () => {
    const one = fieldsOf({ type: "string" });
    expect(readDrafts(one, { "": "yes" })).toEqual({ value: "yes" });
  });
});
