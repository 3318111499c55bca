"use client";

import type { Json } from "@throughline/ai-core";
import { type ReactNode, useEffect, useRef } from "react";
import { Field, Input, Select, TextArea } from "../primitives/field";
import { chosenOf, type Drafts, keyOf, type SchemaField } from "./schema-fields";
import styles from "./schema-form.module.css";

interface SchemaFormProps {
  readonly fields: readonly SchemaField[];
  readonly drafts: Drafts;
  readonly problems: Readonly<Record<string, string>>;
  readonly onChange: (drafts: Drafts) => void;
  /** Shows problems without moving the focus. */
  readonly isCalm?: boolean;
}

/** Controls for the fields of a schema. The parent renders the form and its buttons. */
export function SchemaForm({
  fields,
  drafts,
  problems,
  onChange,
  isCalm = false,
}: SchemaFormProps): ReactNode {
  const container = useRef<HTMLDivElement>(null);

  // Focuses the first field with a problem.
  useEffect(() => {
    if (!isCalm && Object.keys(problems).length > 0)
      container.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  }, [problems, isCalm]);

  return (
    <div ref={container} className={styles.fields}>
      {fields.map((field) => {
        if (field.kind === "fixed") return null;
        const key = keyOf(field);
        const set = (draft: string | boolean) => onChange({ ...drafts, [key]: draft });
        return (
          <Control key={key} field={field} draft={drafts[key] ?? ""} problem={problems[key]} onChange={set} />
        );
      })}
    </div>
  );
}

interface ControlProps {
  readonly field: SchemaField;
  readonly draft: string | boolean;
  readonly problem: string | undefined;
  readonly onChange: (draft: string | boolean) => void;
}

function Control({ field, draft, problem, onChange }: ControlProps): ReactNode {
  if (field.kind === "switch") {
    return (
      <label className={styles.switch}>
        <input
          type="checkbox"
          checked={draft === true}
          onChange={(event) => onChange(event.target.checked)}
        />
        <span>
          {field.label}
          {field.hint !== undefined && <span className={styles.hint}>{field.hint}</span>}
        </span>
      </label>
    );
  }
  if (field.kind === "choices") return <Choices field={field} draft={String(draft)} onChange={onChange} />;
  const hint = field.hint ?? FORM_HINTS[field.kind] ?? rangeText(field);
  return (
    <Field label={field.label} problem={problem} {...(hint !== undefined && { hint })}>
      <Entry field={field} text={String(draft)} onChange={onChange} />
    </Field>
  );
}

const FORM_HINTS: Readonly<Partial<Record<SchemaField["kind"], string>>> = {
  lines: "One per line.",
  json: "As JSON.",
};

function Choices({
  field,
  draft,
  onChange,
}: {
  readonly field: SchemaField & { readonly kind: "choices" };
  readonly draft: string;
  readonly onChange: (draft: string) => void;
}): ReactNode {
  const chosen = chosenOf(draft).map(String);
  return (
    <fieldset className={styles.choices}>
      <legend>{field.label}</legend>
      {field.hint !== undefined && <p className={styles.hint}>{field.hint}</p>}
      {field.options.map((option) => (
        <label key={String(option)} className={styles.switch}>
          <input
            type="checkbox"
            checked={chosen.includes(String(option))}
            onChange={(event) => {
              const isChosen = (one: Json) =>
                one === option ? event.target.checked : chosen.includes(String(one));
              onChange(JSON.stringify(field.options.filter(isChosen)));
            }}
          />
          <span>{String(option)}</span>
        </label>
      ))}
    </fieldset>
  );
}

function Entry({
  field,
  text,
  onChange,
}: {
  readonly field: SchemaField;
  readonly text: string;
  readonly onChange: (draft: string) => void;
}): ReactNode {
  switch (field.kind) {
    case "choice":
      return (
        <Select value={text} onChange={(event) => onChange(event.target.value)}>
          {(text === "" || !field.isRequired) && (
            <option value="">{field.isRequired ? "Choose…" : "None"}</option>
          )}
          {field.options.map(String).map((option, at) => (
            <option key={option} value={option}>
              {field.labels[at]}
            </option>
          ))}
        </Select>
      );
    case "number":
      return <Input value={text} inputMode="decimal" onChange={(event) => onChange(event.target.value)} />;
    case "lines":
      return <TextArea value={text} rows={3} onChange={(event) => onChange(event.target.value)} />;
    case "json":
      return <TextArea isCode value={text} rows={3} onChange={(event) => onChange(event.target.value)} />;
    case "text":
      return field.isLong ? (
        <TextArea value={text} rows={rowsFor(text)} onChange={(event) => onChange(event.target.value)} />
      ) : (
        <Input value={text} onChange={(event) => onChange(event.target.value)} />
      );
    case "switch":
    case "choices":
    case "fixed":
      return null;
  }
}

const FEWEST_ROWS = 3;
const MOST_ROWS = 12;
const LINE_LENGTH = 80;

/** Number of rows that fits the text, within bounds. */
function rowsFor(text: string): number {
  const lines = text
    .split("\n")
    .reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / LINE_LENGTH)), 0);
  return Math.min(MOST_ROWS, Math.max(FEWEST_ROWS, lines + 1));
}

function rangeText(field: SchemaField): string | undefined {
  if (field.kind !== "number" || field.min === undefined || field.max === undefined) return undefined;
  return `From ${field.min.toLocaleString("en")} to ${field.max.toLocaleString("en")}.`;
}
