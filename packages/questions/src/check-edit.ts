import type { JsonObject } from "@throughline/ai-core";
import { checkSchema } from "./check-schema.js";
import type { Mismatch } from "./mismatch.js";

/**
 * Checks new values of a state by the schema that its graph publishes. Some servers infer that from types, and not always rightly: a
 * part of it that refuses the value that is there now says nothing about another.
 */
export function checkEdit(schema: JsonObject, before: JsonObject, values: JsonObject): Mismatch | null {
  const loose = { ...schema, required: [] };
  for (const [name, value] of Object.entries(values)) {
    const mismatch = checkSchema(loose, { [name]: value }, "value");
    const present = before[name];
    const isTrusted = present === undefined || checkSchema(loose, { [name]: present }) === null;
    if (mismatch && isTrusted) return mismatch;
  }
  return null;
}
