import type { Json, JsonObject } from "@throughline/ai-core";

const LONG_TEXT = 60;

/** What values look like now, as a schema: their types stay what they are. */
export function schemaOfValues(values: JsonObject): JsonObject {
  return {
    type: "object",
    properties: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, typeOf(value)])),
  };
}

function typeOf(value: Json): JsonObject {
  if (typeof value === "string")
    return { type: "string", ...(value.length > LONG_TEXT && { maxLength: 100_000 }) };
  if (typeof value === "number" || typeof value === "boolean") return { type: typeof value };
  const isTexts = Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string");
  return isTexts ? { type: "array", items: { type: "string" } } : {};
}
