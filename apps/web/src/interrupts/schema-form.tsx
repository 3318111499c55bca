"use client";

import { type ReactNode, useEffect, useRef } from "react";
import { Field, Input, Select, TextArea } from "../design/field";
import { type Drafts, keyOf, type SchemaField } from "./schema-fields";
import styles from "./schema-form.module.css";

interface SchemaFormProps {
  readonly fields: readonly SchemaField[];
  readonly drafts: Drafts;
  readonly problems: Readonly<Record<string, string>>;
  readonly onChange: (drafts: Drafts) => void;
}

/** Controls for the fields of a schema. Whoever uses it has the form and its buttons. */
export function SchemaForm({ fields, drafts, problems, onChange }: SchemaFormProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);

  // To what is to be mended first.
  useEffect(() => {
    if (Object.keys(problems).length > 0)
      place.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  }, [problems]);

  return (
    <div ref={place} className={styles.fields}>
      {fields.map((field) => {
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
  const hint = field.hint ?? (field.kind === "lines" ? "One to a line." : rangeWords(field));
  return (
    <Field label={field.label} problem={problem} {...(hint !== undefined && { hint })}>
      <Entry field={field} text={String(draft)} onChange={onChange} />
    </Field>
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
          {field.options.map(String).map((option) => (
            <option key={option} value={option}>
              {option}
            </option>
          ))}
        </Select>
      );
    case "number":
      return <Input value={text} inputMode="decimal" onChange={(event) => onChange(event.target.value)} />;
    case "lines":
      return <TextArea value={text} rows={3} onChange={(event) => onChange(event.target.value)} />;
    case "text":
      return field.isLong ? (
        <TextArea value={text} rows={3} onChange={(event) => onChange(event.target.value)} />
      ) : (
        <Input value={text} onChange={(event) => onChange(event.target.value)} />
      );
    case "switch":
      return null;
  }
}

function rangeWords(field: SchemaField): string | undefined {
  if (field.kind !== "number" || field.min === undefined || field.max === undefined) return undefined;
  return `From ${field.min.toLocaleString("en")} to ${field.max.toLocaleString("en")}.`;
}
