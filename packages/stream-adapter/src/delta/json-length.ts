import type { Json } from "@throughline/ai-core";

const NUMBER_LENGTH = 8;
const WORD_LENGTH = 4;

/**
 * About as many characters as the value's JSON has, without writing it: numbers count as eight, and escapes not at all. Stops
 * looking once `enough` is reached.
 */
export function jsonLength(value: Json, enough = Number.POSITIVE_INFINITY): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value === "number") return NUMBER_LENGTH;
  if (typeof value !== "object" || value === null) return WORD_LENGTH;
  let length = 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      length += 1 + jsonLength(item, enough - length);
      if (length >= enough) break;
    }
    return length;
  }
  for (const key of Object.keys(value)) {
    length += key.length + 4 + jsonLength(value[key] ?? null, enough - length);
    if (length >= enough) break;
  }
  return length;
}
