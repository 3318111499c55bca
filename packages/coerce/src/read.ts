import type { JsonObject } from "@throughline/ai-core";

/**
 * Reads a property of anything; a missing one is `undefined`. Runs many times per token, so it guards nothing: a getter
 * that throws makes its whole chunk unreadable, which the adapter reports.
 */
export function read(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return (value as Readonly<Record<string, unknown>>)[key];
}

/** Anything with properties, none of which can be relied on. Hot paths name them outright, which V8 caches. */
export type UnknownRecord = { readonly [key: string]: unknown };

export function asRecord(value: unknown): UnknownRecord | undefined {
  return typeof value === "object" && value !== null ? (value as UnknownRecord) : undefined;
}

export function asString(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function readString(value: unknown, key: string): string | undefined {
  const found = read(value, key);
  return typeof found === "string" ? found : undefined;
}

export function readNumber(value: unknown, key: string): number | undefined {
  const found = read(value, key);
  return typeof found === "number" && Number.isFinite(found) ? found : undefined;
}

export function readArray(value: unknown, key: string): readonly unknown[] {
  const found = read(value, key);
  return Array.isArray(found) ? found : NOTHING;
}

const NOTHING: readonly unknown[] = [];

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
