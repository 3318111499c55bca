import type { Json, JsonObject, PatchOperation } from "@throughline/ai-core";

/**
 * Applies a delta by copying only the containers on the way to each change; all else is shared. O(operations × breadth along
 * their paths), whatever the size of the state. `undefined` when an operation does not fit: then what we hold is not what
 * the service thinks we hold, and only a snapshot helps.
 */
export function applyPatch(state: JsonObject, ops: readonly PatchOperation[]): JsonObject | undefined {
  let next: Json | undefined = state;
  for (const op of ops) {
    next = change(next, pointer(op.path), 0, op);
    if (next === undefined) return undefined;
  }
  return isObject(next) ? next : undefined;
}

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function pointer(path: string): readonly string[] {
  if (path === "") return [];
  const tokens = path.slice(1).split("/");
  return path.includes("~")
    ? tokens.map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"))
    : tokens;
}

function change(target: Json, path: readonly string[], depth: number, op: PatchOperation): Json | undefined {
  const token = path[depth];
  if (token === undefined) return op.op === "remove" ? undefined : op.value;
  if (Array.isArray(target)) return changeArray(target, token, path, depth, op);
  return isObject(target) ? changeObject(target, token, path, depth, op) : undefined;
}

function changeArray(
  target: readonly Json[],
  token: string,
  path: readonly string[],
  depth: number,
  op: PatchOperation,
): Json | undefined {
  const adds = depth === path.length - 1 && op.op === "add";
  const index = token === "-" ? target.length : /^(0|[1-9]\d*)$/.test(token) ? Number(token) : -1;
  if (index < 0 || index > (adds ? target.length : target.length - 1)) return undefined;
  const copy = target.slice();
  if (depth < path.length - 1) {
    const child = change(target[index] ?? null, path, depth + 1, op);
    if (child === undefined) return undefined;
    copy[index] = child;
  } else if (op.op === "remove") copy.splice(index, 1);
  else copy.splice(index, adds ? 0 : 1, op.value);
  return copy;
}

function changeObject(
  target: JsonObject,
  token: string,
  path: readonly string[],
  depth: number,
  op: PatchOperation,
): Json | undefined {
  const isLast = depth === path.length - 1;
  const exists = Object.hasOwn(target, token);
  if (token === "__proto__" || !(exists || (isLast && op.op === "add"))) return undefined;
  if (isLast && op.op === "remove") {
    const { [token]: _removed, ...rest } = target;
    return rest;
  }
  const value = isLast && op.op !== "remove" ? op.value : change(target[token] ?? null, path, depth + 1, op);
  return value === undefined ? undefined : { ...target, [token]: value };
}
