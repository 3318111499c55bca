import type { JsonObject } from "@throughline/ai-core";
import { isJsonObject } from "../primitives/is-json-object";
import { schemaOfValues } from "./schema-fields";

/**
 * The schema of the editable state: as published by the graph, and derived from the current value where that describes nothing.
 * Messages are not editable. A channel without a value yet is not required.
 */
export function stateSchema(published: JsonObject, values: JsonObject): JsonObject {
  const described = isJsonObject(published.properties) ? published.properties : {};
  const seen = propertiesOf(schemaOfValues(values));
  const names = [...new Set([...Object.keys(described), ...Object.keys(values)])];
  const properties = names
    .filter((name) => name !== "messages")
    .map((name) => [name, hasContent(described[name]) ? described[name] : (seen[name] ?? {})]);
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

function hasContent(schema: unknown): boolean {
  return isJsonObject(schema) && Object.keys(schema).some((key) => !ANNOTATIONS.has(key));
}

/** Keys that only annotate: a schema of an arbitrary value may still have them. */
const ANNOTATIONS = new Set(["title", "description", "default", "examples"]);
