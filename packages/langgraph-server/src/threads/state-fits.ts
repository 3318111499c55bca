import { type JsonObject, ThroughlineError } from "@throughline/ai-core";
import { checkEdit } from "@throughline/questions";
import { allowedKeys } from "../thread/schema-keys.js";

/**
 * Throws `invalid_input` unless a state of this schema can hold these values, naming the first that does not fit. Messages are no
 * part of it: they are said in runs. `before`: what it holds now.
 */
export function requireFits(outputSchema: JsonObject, before: JsonObject, values: JsonObject): void {
  const allowed = allowedKeys(outputSchema, Object.keys(values));
  const stranger = Object.keys(values).find((name) => name === "messages" || !allowed.includes(name));
  if (stranger !== undefined) {
    const known = Object.keys(Object(outputSchema.properties)).filter((name) => name !== "messages");
    const named = known.length > 0 ? ` Known: ${known.join(", ")}.` : "";
    throw refused(stranger, `can't be edited.${named}`, { known });
  }
  const mismatch = checkEdit(outputSchema, before, values);
  if (mismatch) throw refused(mismatch.path, mismatch.problem);
}

function refused(path: string, why: string, details: JsonObject = {}): ThroughlineError {
  const field = path === "" ? "values" : `values.${path}`;
  return new ThroughlineError("invalid_input", `${field}: ${why}`, { details: { field, ...details } });
}
