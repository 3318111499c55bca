import type { Json, JsonObject } from "@throughline/ai-core";
import type { JsonSchema } from "../openapi-shape.js";
import { joined, type Markup, markup, prose } from "./markup.js";

const PREFIX = "#/components/schemas/";

/** A schema as a table of its fields; one that is a choice of objects as a table each. */
export function schemaView(schema: JsonSchema): Markup {
  const variants = objectVariants(schema);
  if (variants.length > 0) {
    return markup`${variants.map((variant) => markup`<section class="variant">${schemaTable(variant)}</section>`)}`;
  }
  if (isObject(schema.properties) && Object.keys(schema.properties).length > 0) return schemaTable(schema);
  const element = elementOf(schema);
  return markup`<p class="type">${typeText(schema)}</p>${element && schemaTable(element)}`;
}

interface Row {
  readonly name: string;
  readonly isRequired: boolean;
  readonly schema: JsonSchema;
}

function schemaTable(schema: JsonSchema): Markup {
  const rows = rowsOf(schema, "").map(
    ({ name, isRequired, schema: field }) => markup`<tr>
<td><code>${name}</code>${isRequired && markup` <span class="required">required</span>`}</td>
<td class="type">${typeText(field)}</td>
<td>${typeof field.description === "string" && prose(field.description)}${factsOf(field)}</td>
</tr>`,
  );
  return markup`<div class="scroll"><table><thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

/** Fields of objects inside are rows of their own, named by where they lie. */
function rowsOf({ properties, required }: JsonSchema, prefix: string): Row[] {
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(isObject(properties) ? properties : {}).flatMap(([name, value]) => {
    if (!isObject(value)) return [];
    const row = { name: `${prefix}${name}`, isRequired: needed.includes(name), schema: value };
    const inner = withoutNull(value);
    const element = elementOf(inner);
    if (element) return [row, ...rowsOf(element, `${row.name}[].`)];
    return [row, ...rowsOf(inner, `${row.name}.`)];
  });
}

function elementOf({ items }: JsonSchema): JsonSchema | undefined {
  return isObject(items) && isObject(items.properties) ? items : undefined;
}

/** What the type alone does not say: bounds, patterns and defaults. */
function factsOf(schema: JsonSchema): Markup | undefined {
  const inner = withoutNull(schema);
  const { minLength, maxLength, minimum, maximum, pattern, format } = inner;
  const facts = [
    range("characters", minLength, maxLength),
    range("", minimum, Math.abs(Number(maximum)) === Number.MAX_SAFE_INTEGER ? undefined : maximum),
    typeof format === "string" && markup`${format}`,
    // A pattern that only spells a format out is for programs.
    typeof pattern === "string" && format === undefined && markup`matches <code>${pattern}</code>`,
    schema.default !== undefined && markup`default <code>${JSON.stringify(schema.default)}</code>`,
  ].filter((fact) => fact !== undefined && fact !== false);
  return facts.length === 0 ? undefined : markup` <span class="facts">${joined(facts, ", ")}</span>`;
}

function range(what: string, from: Json | undefined, to: Json | undefined): Markup | undefined {
  if (from === undefined && to === undefined) return undefined;
  if (to === undefined) return markup`at least ${String(from)} ${what}`;
  return from === undefined
    ? markup`at most ${String(to)} ${what}`
    : markup`${String(from)}–${String(to)} ${what}`;
}

/** A type in few words, with a link to what has a name. */
export function typeText(schema: JsonSchema): Markup {
  const { $ref, type, enum: values, anyOf, oneOf, allOf, items } = schema;
  if (typeof $ref === "string" && $ref.startsWith(PREFIX)) {
    const name = $ref.slice(PREFIX.length);
    return markup`<a href="#schema-${name}">${name}</a>`;
  }
  if (schema.const !== undefined) return markup`<code>${JSON.stringify(schema.const)}</code>`;
  if (Array.isArray(values)) {
    return joined(
      values.map((value) => markup`<code>${JSON.stringify(value)}</code>`),
      " | ",
    );
  }
  const choices = [anyOf, oneOf].find(Array.isArray);
  if (choices) return joined(choices.filter(isObject).map(typeText), " | ");
  if (Array.isArray(allOf)) return joined(allOf.filter(isObject).filter(hasType).map(typeText), " & ");
  if (Array.isArray(type)) return joined(type.map(String), " | ");
  if (type === "array") return isObject(items) ? markup`array of ${typeText(items)}` : markup`array`;
  if (type === "object") return objectText(schema);
  return typeof type === "string" ? markup`${type}` : markup`any JSON`;
}

function objectText({ properties, required, additionalProperties }: JsonSchema): Markup {
  const names = Object.keys(isObject(properties) ? properties : {});
  if (names.length === 0) {
    return isObject(additionalProperties) && Object.keys(additionalProperties).length > 0
      ? markup`object of ${typeText(additionalProperties)}`
      : markup`object`;
  }
  const needed = Array.isArray(required) ? required : [];
  return markup`{ ${names.map((name) => (needed.includes(name) ? name : `${name}?`)).join(", ")} }`;
}

function hasType(schema: JsonSchema): boolean {
  return schema.type !== undefined || schema.$ref !== undefined;
}

function objectVariants({ oneOf, anyOf }: JsonSchema): JsonSchema[] {
  const choices = [oneOf, anyOf].find(Array.isArray) ?? [];
  const objects = choices.filter(isObject).filter(({ properties }) => isObject(properties));
  return objects.length === choices.length ? objects : [];
}

/** `T` of `T | null`. */
function withoutNull(schema: JsonSchema): JsonSchema {
  const { anyOf } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const [only, ...others] = anyOf.filter(isObject).filter(({ type }) => type !== "null");
  return only && others.length === 0 ? only : schema;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
