import type { Json, JsonObject, PatchOperation } from "@throughline/ai-core";

/**
 * Applies a delta without mutating the document: only the containers on the path to a change are copied, all else is
 * shared. O(operations × breadth along their paths). Returns `undefined`, and applies none, when an operation does not fit:
 * the delta was made for another document. The projection then retains its state, as the stock clients do; a client of ours
 * requests a snapshot.
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
