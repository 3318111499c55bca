import { describe, expect, it } from "vitest";
import { draftsOf, fieldsOf } from "./schema-fields";
import { changedValues, readValues } from "./value-edits";

const fields = fieldsOf({
  type: "object",
  properties: {
    title: { type: "string" },
    count: { type: "integer", minimum: 1 },
    isUrgent: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    place: { type: "object", properties: { city: { type: "string" } } },
  },
});
const before = { title: "Rain", count: 2, tags: ["  wet "], place: { city: "Oslo", country: "no" }, more: 1 };
const edited = (more: Readonly<Record<string, string | boolean>>) =>
  readValues(before, fields, { fields: { ...draftsOf(fields, before), ...more } });

describe("An edit of values", () => {
  it("changes nothing where no field was touched, also of what the form does not show", () => {
    expect(readValues(before, fields, {})).toEqual({ values: before });
    expect(edited({})).toEqual({ values: before });
  });

  it("changes the fields that were touched, and nothing beside them", () => {
    const values = { ...before, count: 3, isUrgent: true, place: { city: "Bergen", country: "no" } };
    expect(edited({ count: "3", isUrgent: true, "place.city": "Bergen" })).toEqual({ values });
  });

  it("makes an empty text of a text that was emptied, and takes anything else away", () => {
    const { count: _, ...others } = before;
    expect(edited({ title: "", count: "" })).toEqual({ values: { ...others, title: "" } });
  });

  it("says by field what can't be right", () => {
    expect(edited({ count: "0" })).toMatchObject({ problems: { count: "No less than 1." } });
  });

  it("is read as JSON where it was written so", () => {
    expect(readValues(before, fields, { json: '{"a":1}' })).toEqual({ values: { a: 1 } });
    for (const json of ["[1]", "{", ""])
      expect(readValues(before, fields, { json })).toEqual({ problem: "This is not a JSON object." });
  });

  it("is told by what is different", () => {
    expect(changedValues({ a: 1, b: [1], c: 3 }, { a: 1, b: [2], d: 4 })).toEqual([
      { name: "b", before: [1], after: [2] },
      { name: "c", before: 3, after: undefined },
      { name: "d", before: undefined, after: 4 },
    ]);
  });
});
