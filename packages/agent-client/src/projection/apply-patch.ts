import type { Json, JsonObject, PatchOperation } from "@throughline/ai-core";

/**
 * Applies a delta by copying only the containers on the way to each change; all else is shared. O(operations × breadth along
 * their paths), whatever the size of the state. `undefined` when an operation does not fit: then what we hold is not what
 * the service thinks we hold, and only a snapshot helps.
 */
export function applyPatch(state: JsonObject, ops: readonly PatchOperation[]): JsonObject | undefined {
  let next: Json | undefined = state;
  for (const op of ops) {
    next = change(next, pointer(op.path), op);
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

function change(target: Json, [token, ...path]: readonly string[], op: PatchOperation): Json | undefined {
  if (token === undefined) return op.op === "remove" ? undefined : op.value;
  const ending = path.length === 0 ? op.op : undefined;
  if (Array.isArray(target)) {
    const index = token === "-" ? target.length : /^(0|[1-9]\d*)$/.test(token) ? Number(token) : -1;
    if (index < 0 || index > target.length - (ending === "add" ? 0 : 1)) return undefined;
    if (ending === "remove") return target.toSpliced(index, 1);
    const child = change(target[index] ?? null, path, op);
    return child === undefined ? undefined : target.toSpliced(index, ending === "add" ? 0 : 1, child);
  }
  if (!isObject(target) || token === "__proto__") return undefined;
  if (!Object.hasOwn(target, token) && ending !== "add") return undefined;
  if (ending === "remove") {
    const { [token]: _removed, ...rest } = target;
    return rest;
  }
  const child = change(target[token] ?? null, path, op);
  return child === undefined ? undefined : { ...target, [token]: child };
}
