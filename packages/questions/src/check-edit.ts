import type { JsonObject } from "@throughline/ai-core";
import { checkSchema } from "./check-schema.js";
import type { ResponseProblem } from "./mismatch.js";

/**
 * Validates new values of a state against the schema that its graph publishes. Some servers infer the schema from types, not
 * always correctly: a part of it that refuses the current value is ignored for the new one.
 */
export function validateEdit(
  schema: JsonObject,
  before: JsonObject,
  values: JsonObject,
): ResponseProblem | null {
  const loose = { ...schema, required: [] };
  for (const [name, value] of Object.entries(values)) {
    const mismatch = checkSchema(loose, { [name]: value }, "value");
    const present = before[name];
    const isTrusted = present === undefined || checkSchema(loose, { [name]: present }) === null;
    if (mismatch && isTrusted) return mismatch;
  }
  return null;
}
