import type { Json, JsonObject } from "@throughline/ai-core";

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The text of the first of these keys with a text that is not blank. */
export function textAt(value: Json | undefined, ...keys: readonly string[]): string | undefined {
  if (!isObject(value)) return undefined;
  for (const key of keys) {
    const text = value[key];
    if (typeof text === "string" && text.trim() !== "") return text;
  }
  return undefined;
}

export function objectAt(value: Json | undefined, ...keys: readonly string[]): JsonObject | undefined {
  if (!isObject(value)) return undefined;
  return keys.map((key) => value[key]).find(isObject);
}

export function listAt(value: Json | undefined, ...keys: readonly string[]): readonly Json[] | undefined {
  if (!isObject(value)) return undefined;
  return keys.map((key) => value[key]).find((list) => Array.isArray(list));
}

export function textsIn(list: Json | readonly Json[] | undefined): readonly string[] {
  return Array.isArray(list) ? list.filter((item): item is string => typeof item === "string") : [];
}

/** Names the type of a response, for the message that refuses it. */
export function nameOf(value: Json | undefined): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : typeof value === "string" ? "a text" : `a ${typeof value}`;
}
