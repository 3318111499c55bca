import type { JsonObject } from "@throughline/ai-core";

/**
 * Names of a JSON Schema's properties; `undefined` when it names none, as that of a functional graph or of one that can't be
 * described: then every key counts.
 */
export function schemaKeys({ properties }: JsonObject): readonly string[] | undefined {
  if (typeof properties !== "object" || properties === null || Array.isArray(properties)) return undefined;
  const keys = Object.keys(properties);
  return keys.length > 0 ? keys : undefined;
}
