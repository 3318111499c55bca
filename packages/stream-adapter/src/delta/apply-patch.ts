import type { Json, JsonObject, PatchOperation } from "@throughline/ai-core";

/**
 * Applies a delta without touching the document it is given: only the containers on the way to a change are copied, all
 * else is shared. O(operations × breadth along their paths). An operation that does not fit leaves the document as it is,
 * as the stock clients do.
 */
export function applyPatch(document: JsonObject, ops: readonly PatchOperation[]): JsonObject {
  let next: Json = document;
  for (const operation of ops) {
    const applied = applyAt(next, parsePointer(operation.path), 0, operation);
    if (applied === undefined) return document;
    next = applied;
  }
  return typeof next === "object" && next !== null && !Array.isArray(next) ? next : document;
}

function parsePointer(path: string): string[] {
  if (path === "") return [];
  return path
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function applyAt(
  target: Json,
  path: readonly string[],
  depth: number,
  operation: PatchOperation,
): Json | undefined {
  const token = path[depth];
  if (token === undefined) return operation.op === "remove" ? null : operation.value;
  if (typeof target !== "object" || target === null) return undefined;
  const isLast = depth === path.length - 1;
  return Array.isArray(target)
    ? applyToArray(target, token, isLast, path, depth, operation)
    : applyToObject(target, token, isLast, path, depth, operation);
}

function applyToArray(
  target: Json[],
  token: string,
  isLast: boolean,
  path: readonly string[],
  depth: number,
  operation: PatchOperation,
): Json | undefined {
  const index = token === "-" ? target.length : /^(0|[1-9]\d*)$/.test(token) ? Number(token) : Number.NaN;
  const limit = isLast && operation.op === "add" ? target.length : target.length - 1;
  if (!(index >= 0 && index <= limit)) return undefined;
  const copy = target.slice();
  if (!isLast) {
    const child = applyAt(target[index] ?? null, path, depth + 1, operation);
    if (child === undefined) return undefined;
    copy[index] = child;
  } else if (operation.op === "add") copy.splice(index, 0, operation.value);
  else if (operation.op === "replace") copy[index] = operation.value;
  else copy.splice(index, 1);
  return copy;
}

function applyToObject(
  target: JsonObject,
  token: string,
  isLast: boolean,
  path: readonly string[],
  depth: number,
  operation: PatchOperation,
): Json | undefined {
  if (token === "__proto__") return undefined;
  const exists = Object.hasOwn(target, token);
  if (!exists && !(isLast && operation.op === "add")) return undefined;
  if (isLast && operation.op === "remove") {
    const { [token]: _removed, ...rest } = target;
    return rest;
  }
  const value =
    isLast && operation.op !== "remove"
      ? operation.value
      : applyAt(target[token] ?? null, path, depth + 1, operation);
  return value === undefined ? undefined : { ...target, [token]: value };
}
