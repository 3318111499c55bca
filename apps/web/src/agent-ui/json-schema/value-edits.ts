import type { Json, JsonObject } from "@throughline/ai-core";
import { isJsonObject } from "../primitives/is-json-object";
import {
  type Drafts,
  draftsOf,
  keyOf,
  readDrafts,
  type SchemaField,
  valueAt,
  withValue,
} from "./schema-fields";

/** An unfinished edit of values: in the fields of a form, or as text. */
export interface ValuesDraft {
  readonly fields?: Drafts | undefined;
  readonly json?: string | undefined;
}

export type ValuesReading =
  | { readonly values: JsonObject }
  /** `problems` are by field, where the form shows them. */
  | { readonly problem: string; readonly problems?: Readonly<Record<string, string>> };

const NOT_AN_OBJECT = "This is not a JSON object.";

/** Applies an edit to the current values. An unchanged field leaves its value unchanged, also where there is none. */
export function readValues(
  before: JsonObject,
  fields: readonly SchemaField[],
  draft: ValuesDraft,
): ValuesReading {
  if (draft.json !== undefined) return readJson(draft.json);
  const untouched = draftsOf(fields, before);
  const drafts = draft.fields ?? untouched;
  const read = readDrafts(fields, drafts);
  if (read.problems) return { problem: "Some values can't be sent as they are.", problems: read.problems };
  let values: Json = before;
  for (const field of fields) {
    const key = keyOf(field);
    if (field.kind !== "fixed" && drafts[key] === untouched[key]) continue;
    // An emptied text becomes an empty text; any other emptied value is removed.
    const emptied = typeof valueAt(before, field.path) === "string" ? "" : undefined;
    values = withValue(values, field.path, valueAt(read.value, field.path) ?? emptied);
  }
  return { values: isJsonObject(values) ? values : {} };
}

function readJson(text: string): ValuesReading {
  try {
    const values: Json = JSON.parse(text);
    return isJsonObject(values) ? { values } : { problem: NOT_AN_OBJECT };
  } catch {
    return { problem: NOT_AN_OBJECT };
  }
}

export interface ValueChange {
  readonly name: string;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

/** The changes of an edit, by name. */
export function changedValues(before: JsonObject, after: JsonObject): readonly ValueChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .map((name) => ({ name, before: before[name], after: after[name] }))
    .filter((change) => JSON.stringify(change.before) !== JSON.stringify(change.after));
}
