import type { JsonObject } from "@throughline/ai-core";
import { isJsonObject } from "../design/is-json-object";
import { schemaOfValues } from "./schema-of-values";

/**
 * What of a state can be edited, as a schema: what the graph publishes, and where that says nothing of a value, what it looks
 * like now. Messages are said, and not edited. A channel that has no value yet need not be given one.
 */
export function stateSchema(published: JsonObject, values: JsonObject): JsonObject {
  const told = isJsonObject(published.properties) ? published.properties : {};
  const seen = propertiesOf(schemaOfValues(values));
  const names = [...new Set([...Object.keys(told), ...Object.keys(values)])];
  const properties = names
    .filter((name) => name !== "messages")
    .map((name) => [name, saysSomething(told[name]) ? told[name] : (seen[name] ?? {})]);
  const required = Array.isArray(published.required) ? published.required.map(String) : [];
  return {
    ...published,
    type: "object",
    properties: Object.fromEntries(properties),
    required: required.filter((name) => name in values && typeof values[name] !== "string"),
  };
}

function propertiesOf({ properties }: JsonObject): JsonObject {
  return isJsonObject(properties) ? properties : {};
}

function saysSomething(schema: unknown): boolean {
  return isJsonObject(schema) && Object.keys(schema).some((key) => !ANNOTATIONS.has(key));
}

/** Of a value that may be anything, a schema may still say what it is for. */
const ANNOTATIONS = new Set(["title", "description", "default", "examples"]);
