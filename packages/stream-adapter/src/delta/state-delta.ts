import type { Json, JsonObject, PatchOperation } from "@throughline/ai-core";

const MAX_OPERATIONS = 200;
const ALWAYS_SMALL = 1_024;

export type StateChange =
  | { readonly kind: "none" }
  | { readonly kind: "delta"; readonly ops: PatchOperation[] }
  /** So much changed that the whole state is shorter. */
  | { readonly kind: "snapshot" };

const NONE: StateChange = { kind: "none" };
const SNAPSHOT: StateChange = { kind: "snapshot" };

/**
 * Computes the change from one state to the next. The cost is that of the changed parts: parts with the same reference are
 * skipped. Operations share their values with the next state.
 */
export function diffState(before: JsonObject, after: JsonObject): StateChange {
  const ops: PatchOperation[] = [];
  diffRecords("", before, after, ops);
  if (ops.length === 0) return NONE;
  if (Object.keys(before).length === 0 || ops.length > MAX_OPERATIONS) return SNAPSHOT;
  const length = jsonLength(ops);
  if (length > ALWAYS_SMALL && jsonLength(after, 2 * length) < 2 * length) return SNAPSHOT;
  return { kind: "delta", ops };
}

function diffRecords(path: string, before: JsonObject, after: JsonObject, ops: PatchOperation[]): void {
  for (const key of Object.keys(before)) {
    if (!Object.hasOwn(after, key)) ops.push({ op: "remove", path: `${path}/${escaped(key)}` });
  }
  for (const key of Object.keys(after)) {
    const next = after[key];
    const previous = Object.hasOwn(before, key) ? before[key] : undefined;
    if (next === undefined || next === previous) continue;
    const pointer = `${path}/${escaped(key)}`;
    if (previous === undefined) ops.push({ op: "add", path: pointer, value: next });
    else diffValues(pointer, previous, next, ops);
  }
}

/** Compares by index: items that moved count as changed. Removes from the end, so that each path is valid when it is applied. */
function diffLists(
  path: string,
  before: readonly Json[],
  after: readonly Json[],
  ops: PatchOperation[],
): void {
  for (let index = before.length - 1; index >= after.length; index -= 1) {
    ops.push({ op: "remove", path: `${path}/${index}` });
  }
  for (const [index, next] of after.entries()) {
    const previous = before[index];
    if (next === previous) continue;
    if (previous === undefined) ops.push({ op: "add", path: `${path}/${index}`, value: next });
    else diffValues(`${path}/${index}`, previous, next, ops);
  }
}

/** Compares two values; stops where there are too many operations anyway. */
function diffValues(path: string, before: Json, after: Json, ops: PatchOperation[]): void {
  if (ops.length > MAX_OPERATIONS) return;
  if (Array.isArray(before) && Array.isArray(after)) diffLists(path, before, after, ops);
  else if (isRecord(before) && isRecord(after)) diffRecords(path, before, after, ops);
  else ops.push({ op: "replace", path, value: after });
}

function isRecord(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function escaped(key: string): string {
  return key.includes("~") || key.includes("/") ? key.replaceAll("~", "~0").replaceAll("/", "~1") : key;
}

const NUMBER_LENGTH = 8;
const WORD_LENGTH = 4;

/**
 * Estimates the length of a value's JSON without writing it: numbers count as eight, and escapes not at all. Stops once
 * `enough` is reached.
 */
function jsonLength(value: Json, enough = Number.POSITIVE_INFINITY): number {
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
