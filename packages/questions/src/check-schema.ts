import { type OutputUnit, Validator } from "@cfworker/json-schema";
import type { Json, JsonObject } from "@throughline/ai-core";
import { mismatch, type ResponseProblem } from "./mismatch.js";

/**
 * Validates by interpreting the schema, so that it works in a page whose policy forbids `eval`. A schema that can't be read
 * (an external reference, an endless one) refuses nothing: the graph decides. `what`: the value's name in the problem.
 */
export function checkSchema(schema: JsonObject, answer: Json, what = "answer"): ResponseProblem | null {
  try {
    const { valid, errors } = new Validator(schema, "2020-12", false).validate(answer);
    if (valid) return null;
    const worst = errors.reduce<OutputUnit | undefined>(deeper, undefined);
    return worst
      ? mismatch(plainWords(worst.error, what), ...pathOf(worst))
      : mismatch("Does not fit the schema.");
  } catch {
    return null;
  }
}

/** Selects the innermost error: it is the cause of those around it, and follows them. */
function deeper(known: OutputUnit | undefined, one: OutputUnit): OutputUnit {
  return known === undefined || pathOf(one).length >= pathOf(known).length ? one : known;
}

function pathOf({ instanceLocation }: OutputUnit): readonly string[] {
  return instanceLocation
    .split("/")
    .slice(1)
    .map((key) => decodeURIComponent(key.replaceAll("~1", "/").replaceAll("~0", "~")));
}

function plainWords(error: string, what: string): string {
  return error.startsWith("Instance ") ? `The ${what} ${error.slice("Instance ".length)}` : error;
}
