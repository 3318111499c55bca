import type { JsonObject } from "@throughline/ai-core";
import type { StateKeys } from "@throughline/stream-adapter";

/**
 * Keys that a JSON Schema allows. `undefined` when it names none, as that of a functional graph: then every key counts. A schema
 * with `additionalProperties: true` allows every key but those that its `patternProperties` refuse.
 */
export function schemaKeys(schema: JsonObject): StateKeys | undefined {
  const keys = Object.keys(objectOf(schema.properties));
  if (schema.additionalProperties !== true) return keys.length > 0 ? keys : undefined;
  const refused = Object.entries(objectOf(schema.patternProperties))
    .filter(([, allowed]) => allowed === false)
    .map(([pattern]) => new RegExp(pattern));
  return (key) => keys.includes(key) || refused.every((pattern) => !pattern.test(key));
}

/** Those of `keys` that a schema allows. */
export function allowedKeys(schema: JsonObject, keys: readonly string[]): readonly string[] {
  const allowed = schemaKeys(schema);
  if (allowed === undefined) return keys;
  return keys.filter(typeof allowed === "function" ? allowed : (key) => allowed.includes(key));
}

function objectOf(value: unknown): object {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
