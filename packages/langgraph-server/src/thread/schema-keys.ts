import type { JsonObject } from "@throughline/ai-core";

/** Names of a JSON Schema's properties; `undefined` when it names none, as that of a graph that can't be described. */
export function schemaKeys({ properties }: JsonObject): readonly string[] | undefined {
  if (typeof properties !== "object" || properties === null || Array.isArray(properties)) return undefined;
  return Object.keys(properties);
}
