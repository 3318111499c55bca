import type { Json, JsonObject } from "@throughline/ai-core";
import { isJsonObject } from "../design/is-json-object";

/** A reference to a reference, and so on: a schema that names itself ends somewhere too. */
const MOST_STEPS = 8;

/**
 * A schema as a form reads it: references resolved, `T or null` taken as `T`, and a union of constants as a list of choices.
 * What is left of a union has no `type`, and is asked for as JSON.
 */
export function plainSchema(written: JsonObject, root: JsonObject): JsonObject {
  let schema = written;
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const next = plainer(schema, root);
    if (next === schema) return schema;
    schema = next;
  }
  return {};
}

function plainer(schema: JsonObject, root: JsonObject): JsonObject {
  const { $ref, anyOf, oneOf, allOf, ...own } = schema;
  if (typeof $ref === "string") return { ...referred($ref, root), ...own };
  if (Array.isArray(allOf) && allOf.length === 1 && isJsonObject(allOf[0])) return { ...allOf[0], ...own };
  const union = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined;
  if (!union) return schema;
  const parts = union.filter(isJsonObject).filter(({ type }) => type !== "null");
  const [only] = parts;
  if (only && parts.length === 1) return { ...only, ...own };
  const values = parts.map((part) => plainSchema(part, root).const);
  if (parts.length === 0 || values.some((value) => value === undefined)) return own;
  const choices: Json[] = values.flatMap((value) => (value === undefined ? [] : [value]));
  const names = parts.map(({ title }, at) => (typeof title === "string" ? title : String(choices[at])));
  return { ...own, enum: choices, enumNames: names };
}

/** `#/$defs/Name`, as Pydantic and zod write it. */
function referred(reference: string, root: JsonObject): JsonObject {
  if (!reference.startsWith("#")) return {};
  const names = reference
    .split("/")
    .slice(1)
    .map((name) => name.replace(/~1/g, "/").replace(/~0/g, "~"));
  const found = names.reduce<Json | undefined>((at, name) => (isJsonObject(at) ? at[name] : undefined), root);
  return isJsonObject(found) ? found : {};
}
