"use client";

import type { ThreadName } from "@throughline/agent-client";
import type { JsonObject } from "@throughline/ai-core";
import { type FormEvent, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { type Pause, useEditState } from "../../data/checkpoints";
import { fieldsOf, schemaOfValues } from "../json-schema/schema-fields";
import { changedValues, readValues, type ValuesDraft, ValuesEditor } from "../json-schema/values-editor";
import { Button } from "../primitives/button";
import { Problem } from "../primitives/field";
import { isJsonObject } from "../primitives/json-tree";
import card from "./response-form.module.css";
import styles from "./state-form.module.css";

interface StateFormProps {
  readonly thread: ThreadName;
  /** The state as it was when the edit began. */
  readonly seen: Pause;
  /** Of what can be edited. */
  readonly schema: JsonObject;
  /** The state has been changed elsewhere since. */
  readonly isStale: boolean;
  /** Why the person may not make the agent go on. */
  readonly refusal: string | undefined;
  readonly onSaved: (runId: string | null, isToContinue: boolean) => void;
  /** Begins anew with the state as it is now. */
  readonly onStartOver: () => void;
  readonly onCancel: () => void;
}

/** What the agent holds, to be edited while it pauses. */
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

  // A person who opened it by key goes on in its first field.
  useEffect(() => form.current?.querySelector<HTMLElement>("input, textarea, select")?.focus(), []);

  async function save(isToContinue: boolean): Promise<void> {
    setTried(true);
    if (changed === undefined || isUnchanged || isSaving || isStale) return;
    setSaving(true);
    const refused = await judge(schema, seen.values, changed);
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
        keepsMissing
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

/** Only these are sent. */
function changedOf(before: JsonObject, after: JsonObject): JsonObject {
  return Object.fromEntries(
    changedValues(before, after).flatMap(({ name, after: value }) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
}

/** Why the agent can't hold these values; where the script that tells can't be had, the service has the say. */
async function judge(
  schema: JsonObject,
  before: JsonObject,
  values: JsonObject,
): Promise<string | undefined> {
  const known = Object.keys(Object(schema.properties));
  const stranger = Object.keys(values).find((name) => !known.includes(name));
  if (stranger !== undefined) return `${stranger}: there is no such value. Known: ${known.join(", ")}.`;
  const checks = await import("./check-response").catch(() => undefined);
  const mismatch = checks?.checkEdit(schema, before, values);
  return mismatch ? `${mismatch.path}: ${mismatch.problem}` : undefined;
}

/**
 * What of a state can be edited, as a schema: what the graph publishes, and where that says nothing of a value, what it looks
 * like now. Messages are said, and not edited. A channel that has no value yet need not be given one.
 */
export function stateSchema(published: JsonObject, values: JsonObject): JsonObject {
  const told = isJsonObject(published.properties) ? published.properties : {};
  const seen = propertiesOf(schemaOfValues(values));
  const names = [...new Set([...Object.keys(told), ...Object.keys(values)])];
  const properties = names
    .filter((name) => name !== "messages")
    .map((name) => [name, saysSomething(told[name]) ? told[name] : (seen[name] ?? {})]);
  const required = Array.isArray(published.required) ? published.required.map(String) : [];
  return {
    ...published,
    type: "object",
    properties: Object.fromEntries(properties),
    required: required.filter((name) => name in values && typeof values[name] !== "string"),
  };
}

function propertiesOf({ properties }: JsonObject): JsonObject {
  return isJsonObject(properties) ? properties : {};
}

function saysSomething(schema: unknown): boolean {
  return isJsonObject(schema) && Object.keys(schema).some((key) => !ANNOTATIONS.has(key));
}

/** Of a value that may be anything, a schema may still say what it is for. */
const ANNOTATIONS = new Set(["title", "description", "default", "examples"]);
