"use client";

import type { Json, JsonObject } from "@throughline/ai-core";
import type { ReactNode } from "react";
import { Button } from "../design/button";
import { Field, TextArea } from "../design/field";
import card from "./card.module.css";
import { draftsOf, type SchemaField } from "./schema-fields";
import { SchemaForm } from "./schema-form";
import { changedValues, readValues, type ValuesDraft } from "./value-edits";
import values from "./values.module.css";

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
