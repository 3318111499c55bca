"use client";

import type { Json, JsonObject } from "@throughline/ai-core";
import type { ReactNode } from "react";
import values from "../interrupts/approval-form.module.css";
import card from "../interrupts/response-form.module.css";
import { Button } from "../primitives/button";
import { Field, TextArea } from "../primitives/field";
import { isJsonObject } from "../primitives/json-tree";
import {
  type Drafts,
  draftsOf,
  keyOf,
  readDrafts,
  type SchemaField,
  valueAt,
  withValue,
} from "./schema-fields";
import { SchemaForm } from "./schema-form";

interface ValuesEditorProps {
  /** As they are now. */
  readonly before: JsonObject;
  readonly fields: readonly SchemaField[];
  readonly draft: ValuesDraft;
  readonly problems: Readonly<Record<string, string>>;
  /** A value that is left out stays as it is. */
  readonly keepsMissing?: boolean;
  /** What the field is called in which they are edited as text. */
  readonly jsonLabel: string;
  readonly onChange: (more: ValuesDraft) => void;
}

/** Values to edit, in a form or as JSON, and what that changes. */
export function ValuesEditor(props: ValuesEditorProps): ReactNode {
  const { before, fields, draft, problems, keepsMissing = false, jsonLabel, onChange } = props;
  const reading = readValues(before, fields, draft);
  const edited = "values" in reading ? reading.values : undefined;
  const isJson = draft.json !== undefined;

  /** What was edited one way goes on the other way. */
  function changeMode(): void {
    if (!isJson) onChange({ json: JSON.stringify(edited ?? before, undefined, 2) });
    else onChange({ json: undefined, ...(edited && { fields: draftsOf(fields, edited) }) });
  }

  return (
    <div className={card.form}>
      {isJson ? (
        <Field label={jsonLabel} problem={"problem" in reading ? reading.problem : undefined}>
          <TextArea
            isCode
            value={draft.json}
            rows={8}
            onChange={(event) => onChange({ json: event.target.value })}
          />
        </Field>
      ) : (
        <SchemaForm
          fields={fields}
          drafts={draft.fields ?? draftsOf(fields, before)}
          problems={problems}
          onChange={(next) => onChange({ fields: next })}
          isCalm
        />
      )}
      {edited && <Changes before={before} after={keepsMissing ? { ...before, ...edited } : edited} />}
      <Button look="quiet" className={values.mode} onClick={changeMode}>
        {isJson ? "Edit in the form" : "Edit as JSON"}
      </Button>
    </div>
  );
}

/** What goes, against what is there. */
function Changes({ before, after }: { readonly before: JsonObject; readonly after: JsonObject }): ReactNode {
  const changes = changedValues(before, after);
  if (changes.length === 0) return <p className={card.note}>Nothing is changed yet.</p>;
  return (
    <dl className={values.values} aria-label="What you changed">
      {changes.map(({ name, ...change }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {change.before !== undefined && <del>{shownValue(change.before)}</del>}{" "}
            {change.after !== undefined && <ins>{shownValue(change.after)}</ins>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

export function shownValue(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** An edit of values half made: in the fields of a form, or as text. */
export interface ValuesDraft {
  readonly fields?: Drafts | undefined;
  readonly json?: string | undefined;
}

export type ValuesReading =
  | { readonly values: JsonObject }
  /** `problems`: by field, where the form shows them. */
  | { readonly problem: string; readonly problems?: Readonly<Record<string, string>> };

const NOT_AN_OBJECT = "This is not a JSON object.";

/** The values that an edit makes of those there are. A field that was left as it was leaves its value as it was, also where there is none. */
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
    // A text that was emptied is an empty text; anything else is gone.
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

/** What an edit changes, by name. */
export function changedValues(before: JsonObject, after: JsonObject): readonly ValueChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .map((name) => ({ name, before: before[name], after: after[name] }))
    .filter((change) => JSON.stringify(change.before) !== JSON.stringify(change.after));
}
