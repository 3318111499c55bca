"use client";

import type { ThreadName } from "@throughline/agent-client";
import type { JsonObject } from "@throughline/ai-core";
import { type FormEvent, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { type Pause, useEditState } from "../../data/checkpoints";
import { fieldsOf } from "../json-schema/schema-fields";
import { changedValues, readValues, type ValuesDraft } from "../json-schema/value-edits";
import { ValuesEditor } from "../json-schema/values-editor";
import { Button } from "../primitives/button";
import { Problem } from "../primitives/field";
import card from "./response-form.module.css";
import styles from "./state-form.module.css";

interface StateFormProps {
  readonly thread: ThreadName;
  /** The state as it was when the edit began. */
  readonly seen: Pause;
  /** Schema of the editable state. */
  readonly schema: JsonObject;
  /** The state has been changed elsewhere since. */
  readonly isStale: boolean;
  /** Why the person may not continue the run. */
  readonly refusal: string | undefined;
  readonly onSaved: (runId: string | null, isToContinue: boolean) => void;
  /** Restarts the edit with the current state. */
  readonly onStartOver: () => void;
  readonly onCancel: () => void;
}

/** Edits the state of a paused agent. */
export function StateForm(props: StateFormProps): ReactNode {
  const { thread, seen, schema, isStale, refusal, onSaved } = props;
  const fields = useMemo(() => fieldsOf(schema), [schema]);
  const edit = useEditState(thread);
  const form = useRef<HTMLFormElement>(null);
  const [draft, setDraft] = useState<ValuesDraft>({});
  const [isSaving, setSaving] = useState(false);
  const [isTried, setTried] = useState(false);
  const [problem, setProblem] = useState<string>();
  const reading = readValues(seen.values, fields, draft);
  const changed = "values" in reading ? changedOf(seen.values, reading.values) : undefined;
  const isUnchanged = changed !== undefined && Object.keys(changed).length === 0;
  const problems = isTried && "problems" in reading ? reading.problems : undefined;

  // A keyboard user continues in the first field.
  useEffect(() => form.current?.querySelector<HTMLElement>("input, textarea, select")?.focus(), []);

  async function save(isToContinue: boolean): Promise<void> {
    setTried(true);
    if (changed === undefined || isUnchanged || isSaving || isStale) return;
    setSaving(true);
    const refused = await checkValues(schema, seen.values, changed);
    if (refused === undefined) {
      try {
        onSaved(await edit({ values: changed, checkpointId: seen.checkpointId }), isToContinue);
        return;
      } catch (error) {
        setProblem(error instanceof Error ? error.message : String(error));
      }
    } else setProblem(refused);
    setSaving(false);
  }

  function submit(event: FormEvent): void {
    event.preventDefault();
    void save(false);
  }

  const isDisabled = isSaving || isUnchanged || isStale;
  return (
    <form
      ref={form}
      className={`${card.form} ${styles.form}`}
      aria-label="State"
      onSubmit={submit}
      noValidate
    >
      <ValuesEditor
        before={seen.values}
        fields={fields}
        draft={draft}
        problems={problems ?? {}}
        retainsMissing
        jsonLabel="State as JSON"
        onChange={(more) => {
          setProblem(undefined);
          setDraft((before) => ({ ...before, ...more }));
        }}
      />
      {isStale && !isSaving && (
        <p className={card.buttons} role="alert">
          The state was changed meanwhile, in another tab or by another person.{" "}
          <Button onClick={props.onStartOver}>Start over with the new state</Button>
        </p>
      )}
      <div className={card.buttons}>
        <Button look="primary" disabled={isDisabled || refusal !== undefined} onClick={() => void save(true)}>
          Save and continue
        </Button>
        <Button type="submit" disabled={isDisabled}>
          {isSaving ? "Saving…" : "Save"}
        </Button>
        <Button look="quiet" disabled={isSaving} onClick={props.onCancel}>
          Cancel
        </Button>
      </div>
      <Problem>{problem}</Problem>
    </form>
  );
}

/** The changed values; only these are sent. */
function changedOf(before: JsonObject, after: JsonObject): JsonObject {
  return Object.fromEntries(
    changedValues(before, after).flatMap(({ name, after: value }) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
}

/** Why the agent can't store these values. The service decides where the checker can't be loaded. */
async function checkValues(
  schema: JsonObject,
  before: JsonObject,
  values: JsonObject,
): Promise<string | undefined> {
  const known = Object.keys(Object(schema.properties));
  const unknownName = Object.keys(values).find((name) => !known.includes(name));
  if (unknownName !== undefined) return `${unknownName}: there is no such value. Known: ${known.join(", ")}.`;
  const checks = await import("./check-response").catch(() => undefined);
  const mismatch = checks?.validateEdit(schema, before, values);
  return mismatch ? `${mismatch.path}: ${mismatch.problem}` : undefined;
}
