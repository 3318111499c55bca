import type { Json } from "@throughline/ai-core";
import type { Operation } from "fast-json-patch";
import jsonpatch from "fast-json-patch";

/**
 * Applies a delta by RFC 6902, with the library that `@ag-ui/client` uses. Copies only the containers on the path to a change:
 * the library would copy the whole document. `undefined` when the patch does not apply: clients then change nothing.
 */
export function applyDelta(document: Json, patch: Json | undefined): Json | undefined {
  if (!Array.isArray(patch)) return undefined;
  try {
    // The library checks the operations itself.
    const operations = patch as unknown as readonly Operation[];
    return operations.reduce((so, operation) => {
      const own = [operation.path, "from" in operation ? operation.from : ""].reduce(copiedTo, so);
      return jsonpatch.applyOperation(own, operation, true, true).newDocument;
    }, document);
  } catch {
    return undefined;
  }
}

/** Copies the containers of a document above a pointer's target. */
function copiedTo(document: Json, pointer: string): Json {
  return copied(document, pointer.split("/").slice(1, -1).map(jsonpatch.unescapePathComponent));
}

function copied(value: Json, [token, ...rest]: readonly string[]): Json {
  if (typeof value !== "object" || value === null) return value;
  const copy: Json = Array.isArray(value) ? [...value] : { ...value };
  const child: unknown = token !== undefined && Object.hasOwn(copy, token) && Reflect.get(copy, token);
  if (token !== undefined && child) Reflect.set(copy, token, copied(child as Json, rest));
  return copy;
}
