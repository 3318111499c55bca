import type { Json, JsonObject, PatchOperation } from "@throughline/ai-core";

/**
 * Applies a delta without touching the document it is given: only the containers on the way to a change are copied, all
 * else is shared. O(operations × breadth along their paths). `undefined` when an operation does not fit, and then none is
 * applied: the document is not the one the delta was made for. The fold keeps what it has, as the stock clients do; a
 * client of ours asks for a snapshot.
 */
export function applyPatch(document: JsonObject, ops: readonly PatchOperation[]): JsonObject | undefined {
  let next: Json = document;
  for (const operation of ops) {
    const applied = applyAt(next, parsePointer(operation.path), 0, operation);
    if (applied === undefined) return undefined;
    next = applied;
  }
  return isObject(next) ? next : undefined;
}

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parsePointer(path: string): readonly string[] {
  if (path === "") return [];
  const tokens = path.slice(1).split("/");
  return path.includes("~")
    ? tokens.map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"))
    : tokens;
}

function applyAt(
  target: Json,
  path: readonly string[],
  depth: number,
  operation: PatchOperation,
): Json | undefined {
  const token = path[depth];
  if (token === undefined) return operation.op === "remove" ? undefined : operation.value;
  const ending = depth === path.length - 1 ? operation.op : undefined;
  if (Array.isArray(target)) {
    const index = token === "-" ? target.length : /^(0|[1-9]\d*)$/.test(token) ? Number(token) : -1;
    if (index < 0 || index > target.length - (ending === "add" ? 0 : 1)) return undefined;
    if (ending === "remove") return target.toSpliced(index, 1);
    const child = applyAt(target[index] ?? null, path, depth + 1, operation);
    return child === undefined ? undefined : target.toSpliced(index, ending === "add" ? 0 : 1, child);
  }
  if (!isObject(target) || token === "__proto__") return undefined;
  if (!Object.hasOwn(target, token) && ending !== "add") return undefined;
  if (ending === "remove") {
    const { [token]: _removed, ...rest } = target;
    return rest;
  }
  const child = applyAt(target[token] ?? null, path, depth + 1, operation);
  return child === undefined ? undefined : { ...target, [token]: child };
}
