import type { Json, JsonObject } from "@throughline/ai-core";
import fc from "fast-check";
import type { JsonSchema, OpenApiDocument } from "../http/openapi-shape.js";
import { schemaProblem } from "./schema-problem.js";

export interface ValueSource {
  readonly document: OpenApiDocument;
  /**
   * Values that mean something, by the name of the field or parameter (`path threadName` where it is of a path): tried most
   * of the time where they fit.
   */
  readonly words: Readonly<Record<string, readonly Json[]>>;
}

const MAX_DEPTH = 4;

/** Any value that fits a schema of the document. */
export function fittingValue(source: ValueSource, schema: JsonSchema, depth = 0): fc.Arbitrary<Json> {
  const { $ref, type, anyOf, oneOf } = schema;
  if (typeof $ref === "string") return fittingValue(source, namedSchema(source, $ref), depth);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  const choices = [anyOf, oneOf].find(Array.isArray);
  if (choices) return fc.oneof(...choices.filter(isObject).map((one) => fittingValue(source, one, depth)));
  const types = Array.isArray(type) ? type : [type];
  return fc.oneof(...types.map((one) => ofType(source, schema, one, depth)));
}

function ofType(
  source: ValueSource,
  schema: JsonSchema,
  type: Json | undefined,
  depth: number,
): fc.Arbitrary<Json> {
  switch (type) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "integer":
    case "number":
      return numbers(schema, type);
    case "string":
      return strings(schema);
    case "array": {
      const { items, minItems } = schema;
      const least = Number(minItems ?? 0);
      const one = isObject(items) ? fittingValue(source, items, depth + 1) : anyJson;
      return fc.array(one, { minLength: least, maxLength: depth > MAX_DEPTH ? least : least + 2 });
    }
    case "object":
      return objects(source, schema, depth);
    default:
      return anyJson;
  }
}

/** Of the JSON that a server may be sent where it takes any. */
const anyJson: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(null, true, 0, -1.5, "", "text", "🌊", [], {}),
  fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), fc.constantFrom<Json>(1, "x", [1], null), { maxKeys: 2 }),
);

function numbers({ minimum, maximum }: JsonSchema, type: "integer" | "number"): fc.Arbitrary<number> {
  const min = Number(minimum ?? -1_000_000);
  const max = Number(maximum ?? 1_000_000);
  if (type === "integer") return fc.oneof(fc.constantFrom(min, max), fc.integer({ min, max }));
  return fc.double({ min, max, noNaN: true });
}

function strings({ minLength = 0, maxLength, pattern, format }: JsonSchema): fc.Arbitrary<string> {
  const matcher = typeof pattern === "string" && format === undefined ? new RegExp(pattern, "u") : /(?:)/;
  if (matcher.source !== "(?:)" && maxLength === undefined) return fc.stringMatching(matcher);
  const min = Number(minLength);
  const max = Number(maxLength ?? min + 40);
  const unit = fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom(..."abcxyz019 _-.,:/%?#&=+'\"<>\\") },
    { weight: 1, arbitrary: fc.constantFrom("é", "e\u0301", "😀", "\u200b", "ﬁ", "\u0000", "\n") },
  );
  const any = fc.oneof(
    { weight: 6, arbitrary: fc.string({ unit, minLength: min, maxLength: Math.min(max, min + 40) }) },
    { weight: 1, arbitrary: fc.constant("x".repeat(Math.min(max, 5_000))) },
  );
  return any.filter((text) => matcher.test(text));
}

function objects(source: ValueSource, schema: JsonSchema, depth: number): fc.Arbitrary<JsonObject> {
  const { properties, required, additionalProperties, minProperties = 0 } = schema;
  if (!isObject(properties)) return fc.constantFrom<JsonObject>({}, { count: 1 }, { a: { b: [true] } });
  const needed = Array.isArray(required) ? required.map(String) : [];
  const fields = Object.entries(properties).filter(([name]) => depth <= MAX_DEPTH || needed.includes(name));
  const arbitraries = fields.map(([name, field]): [string, fc.Arbitrary<Json>] => [
    name,
    fieldValue(source, name, isObject(field) ? field : {}, depth),
  ]);
  const known = fc.record(Object.fromEntries(arbitraries), { requiredKeys: needed });
  const more =
    additionalProperties === false
      ? fc.constant({})
      : fc.oneof(
          { weight: 4, arbitrary: fc.constant({}) },
          { weight: 1, arbitrary: fc.constant({ more: 1 }) },
        );
  return fc
    .tuple(known, more)
    .map(([named, extra]): JsonObject => ({ ...named, ...extra }))
    .filter((value) => Object.keys(value).length >= Number(minProperties));
}

function fieldValue(
  source: ValueSource,
  name: string,
  schema: JsonSchema,
  depth: number,
): fc.Arbitrary<Json> {
  const words = (source.words[name] ?? []).filter(
    (word) => schemaProblem({ document: source.document }, schema, word) === undefined,
  );
  const any = fittingValue(source, schema, depth + 1);
  if (words.length === 0) return any;
  return fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...words) }, { weight: 1, arbitrary: any });
}

const JUNK: readonly Json[] = [null, true, 7, -1.5, "", "text", "x".repeat(6_000), [], [1], {}, { a: 1 }];

/** Values that a schema of the document refuses: no object at all, a field of another kind, one missing, one too many. */
export function misfittingValue(source: ValueSource, schema: JsonSchema): fc.Arbitrary<Json> {
  const junk = fc.constantFrom(...JUNK);
  const spoiled = fc
    .tuple(fittingValue(source, schema), fc.nat(), junk, fc.constantFrom("replace", "remove", "add"))
    .map(([value, index, bad, how]): Json => {
      if (!isObject(value)) return bad;
      const names = Object.keys(value);
      const name = names[index % Math.max(1, names.length)];
      if (how === "add" || name === undefined) return { ...value, unheardOf: bad };
      const { [name]: _, ...rest } = value;
      return how === "remove" ? rest : { ...rest, [name]: bad };
    });
  return fc
    .oneof({ weight: 4, arbitrary: spoiled }, { weight: 1, arbitrary: junk })
    .filter((value) => schemaProblem({ document: source.document }, schema, value) !== undefined);
}

function namedSchema({ document }: ValueSource, ref: string): JsonSchema {
  return document.components.schemas[ref.slice("#/components/schemas/".length)] ?? {};
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
