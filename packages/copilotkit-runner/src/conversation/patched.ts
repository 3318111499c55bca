import type { Json } from "@throughline/ai-core";
import jsonpatch, { type Operation } from "fast-json-patch";

/** RFC 6902, by the library that `@ag-ui/client` uses. `undefined` when the patch does not apply: clients then change nothing. */
export function patched(document: Json, patch: Json | undefined): Json | undefined {
  try {
    // The library checks the operations itself.
    const operations = patch as unknown as Operation[];
    return jsonpatch.applyPatch(document, operations, true, false).newDocument;
  } catch {
    return undefined;
  }
}
