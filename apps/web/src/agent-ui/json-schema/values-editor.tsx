"use client";

import type { Json, JsonObject } from "@throughline/ai-core";
import type { ReactNode } from "react";
import values from "../interrupts/approval-form.module.css";
import card from "../interrupts/response-form.module.css";
import { Button } from "../primitives/button";
import { Field, TextArea } from "../primitives/field";
import { draftsOf, type SchemaField } from "./schema-fields";
import { SchemaForm } from "./schema-form";
import { changedValues, readValues, type ValuesDraft } from "./value-edits";

interface ValuesEditorProps {
  /** The current values. */
  readonly before: JsonObject;
  readonly fields: readonly SchemaField[];
  readonly draft: ValuesDraft;
  readonly problems: Readonly<Record<string, string>>;
  /** An omitted value stays unchanged. */
  readonly retainsMissing?: boolean;
  /** Label of the field that edits the values as JSON. */
  readonly jsonLabel: string;
  readonly onChange: (more: ValuesDraft) => void;
}

/** Edits values in a form or as JSON, and shows the changes. */
export function ValuesEditor(props: ValuesEditorProps): ReactNode {
  const { before, fields, draft, problems, retainsMissing = false, jsonLabel, onChange } = props;
  const reading = readValues(before, fields, draft);
  const edited = "values" in reading ? reading.values : undefined;
  const isJson = draft.json !== undefined;

  /** Switches between form and JSON; edits carry over. */
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
      {edited && <Changes before={before} after={retainsMissing ? { ...before, ...edited } : edited} />}
      <Button look="quiet" className={values.mode} onClick={changeMode}>
        {isJson ? "Edit in the form" : "Edit as JSON"}
      </Button>
    </div>
  );
}

/** The edited values, compared with the current ones. */
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
