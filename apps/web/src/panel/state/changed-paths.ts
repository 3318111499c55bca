import type { Json } from "@throughline/ai-core";

/** By JSON Pointer: `self` is new or another; `within`, something below it is. */
export type ChangedPaths = ReadonlyMap<string, "self" | "within">;

export const NOTHING_CHANGED: ChangedPaths = new Map();

/** What is different after. What is shared between the two is not looked into. */
export function changedPaths(before: Json, after: Json): ChangedPaths {
  const changed = new Map<string, "self" | "within">();
  compare(before, after, "", changed);
  return changed;
}

/** Whether there was any. What was removed has no place to be marked at: what held it is. */
function compare(before: Json, after: Json, path: string, changed: Map<string, "self" | "within">): boolean {
  if (before === after) return false;
  if (!isContainer(before) || !isContainer(after) || Array.isArray(before) !== Array.isArray(after)) {
    changed.set(path, "self");
    return true;
  }
  const old = new Map<string, Json>(Object.entries(before));
  let isWithin = false;
  for (const [key, value] of Object.entries<Json>(after)) {
    const below = pointerTo(path, key);
    const known = old.get(key);
    if (known === undefined) {
      changed.set(below, "self");
      isWithin = true;
    } else if (compare(known, value, below, changed)) isWithin = true;
    old.delete(key);
  }
  const isShorter = old.size > 0;
  if (isShorter) changed.set(path, "self");
  else if (isWithin) changed.set(path, "within");
  return isShorter || isWithin;
}

/** RFC 6901. */
export function pointerTo(path: string, key: string): string {
  return `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

export function isContainer(value: Json): value is Json[] | { [key: string]: Json } {
  return typeof value === "object" && value !== null;
}
