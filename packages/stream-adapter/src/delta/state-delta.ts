import type { Json, JsonObject, PatchOperation } from "@throughline/ai-core";
import jsonPatch from "fast-json-patch";

const MAX_OPERATIONS = 200;
const ALWAYS_SMALL_BYTES = 1_024;

export type StateChange =
  | { readonly kind: "none" }
  | { readonly kind: "delta"; readonly ops: PatchOperation[] }
  /** So much changed that saying it all is shorter. */
  | { readonly kind: "snapshot" };

const NONE: StateChange = { kind: "none" };
const SNAPSHOT: StateChange = { kind: "snapshot" };

/** What turns one state into the next. O(size of both); channels that are the same reference cost nothing. */
export function diffState(before: JsonObject, after: JsonObject): StateChange {
  const ops: PatchOperation[] = [];
  for (const key of Object.keys(before)) {
    if (!Object.hasOwn(after, key)) ops.push({ op: "remove", path: pointer(key) });
  }
  for (const key of Object.keys(after)) {
    const next = after[key];
    if (next === undefined) continue;
    const previous = before[key];
    if (!Object.hasOwn(before, key) || previous === undefined)
      ops.push({ op: "add", path: pointer(key), value: next });
    else if (previous !== next) diffChannel(pointer(key), previous, next, ops);
  }
  if (ops.length === 0) return NONE;
  if (Object.keys(before).length === 0 || ops.length > MAX_OPERATIONS) return SNAPSHOT;
  const size = JSON.stringify(ops).length;
  if (size > ALWAYS_SMALL_BYTES && size > JSON.stringify(after).length / 2) return SNAPSHOT;
  return { kind: "delta", ops };
}

function diffChannel(path: string, previous: Json, next: Json, ops: PatchOperation[]): void {
  if (!isContainer(previous) || !isContainer(next) || Array.isArray(previous) !== Array.isArray(next)) {
    ops.push({ op: "replace", path, value: next });
    return;
  }
  for (const operation of jsonPatch.compare(previous, next)) {
    const full = path + operation.path;
    if (operation.op === "remove") ops.push({ op: "remove", path: full });
    else if (operation.op === "add" || operation.op === "replace") {
      ops.push({ op: operation.op, path: full, value: operation.value as Json });
    }
  }
}

function isContainer(value: Json): value is Json[] | JsonObject {
  return typeof value === "object" && value !== null;
}

function pointer(key: string): string {
  return `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
