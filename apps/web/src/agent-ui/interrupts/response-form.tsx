"use client";

import type { Json, JsonObject } from "@throughline/ai-core";
import { dismissResponse, type Question, respondToAction, respondToForm } from "@throughline/questions";
import { type FormEvent, type ReactNode, useMemo, useState } from "react";
import {
  draftsOf,
  fieldsOf,
  hasControls,
  presetOf,
  readDrafts,
  schemaOfValues,
} from "../json-schema/schema-fields";
import { SchemaForm } from "../json-schema/schema-form";
import { changedValues } from "../json-schema/value-edits";
import { Button } from "../primitives/button";
import { Field, TextArea } from "../primitives/field";
import { isJsonObject } from "../primitives/is-json-object";
import styles from "./response-form.module.css";

interface ResponseFormProps {
  readonly answer: ResponseFields;
  readonly isDisabled: boolean;
  readonly isSingle: boolean;
  /** Its response will be sent with the others. */
  readonly isChosen: boolean;
  readonly onRespond: (value: Json) => void;
}

const ANY_TEXT: JsonObject = { type: "string", maxLength: 1_000_000 };

/** A response in fields or as text, and always also as JSON: no form covers everything a graph may accept. */
export function ResponseForm({
  answer,
  isDisabled,
  isSingle,
  isChosen,
  onRespond,
}: ResponseFormProps): ReactNode {
  const { schema = ANY_TEXT, preset, declined } = answer;
  const fields = useMemo(() => fieldsOf(schema), [schema]);
  const [drafts, setDrafts] = useState(() => draftsOf(fields, preset ?? presetOf(schema)));
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const [isJson, setJson] = useState(() => !hasControls(fields));
  const [json, setJsonText] = useState(() => jsonOf(preset ?? presetOf(schema)));
  const [jsonProblem, setJsonProblem] = useState<string>();

  function submit(event: FormEvent): void {
    event.preventDefault();
    if (isJson) submitJson();
    else submitFields();
  }

  function submitFields(): void {
    const read = readDrafts(fields, drafts);
    setProblems(read.problems ?? {});
    if (!read.problems) onRespond(answer.toResponse(read.value));
  }

  function currentResponse(): Json | undefined {
    const read = readDrafts(fields, drafts);
    return read.problems ? undefined : answer.toResponse(read.value);
  }

  function changeMode(): void {
    if (!isJson) setJsonText((before) => jsonOf(currentResponse()) || before);
    setJson(!isJson);
  }

  /** Sends the JSON as the whole response. */
  function submitJson(): void {
    try {
      const value: Json = JSON.parse(json);
      setJsonProblem(undefined);
      onRespond(value);
    } catch {
      setJsonProblem("This is not JSON. A text needs quotation marks.");
    }
  }

  return (
    <form className={styles.form} onSubmit={submit}>
      {isJson ? (
        <Field label="Your answer as JSON" problem={jsonProblem}>
          <TextArea isCode value={json} rows={5} onChange={(event) => setJsonText(event.target.value)} />
        </Field>
      ) : (
        <SchemaForm fields={fields} drafts={drafts} problems={problems} onChange={setDrafts} />
      )}
      {answer.isGuess && !isJson && <ResponsePreview answer={currentResponse()} />}
      <div className={styles.buttons}>
        <Button type="submit" look={isSingle ? "primary" : "plain"} disabled={isDisabled}>
          {isChosen ? "Change the answer" : isJson ? "Answer" : answer.submit}
        </Button>
        {declined !== undefined && (
          <Button disabled={isDisabled} onClick={() => onRespond(declined)}>
            {answer.decline}
          </Button>
        )}
        {hasControls(fields) && (
          <Button look="quiet" onClick={changeMode}>
            {isJson ? "Answer in the form" : "Answer as JSON"}
          </Button>
        )}
      </div>
    </form>
  );
}

/** Previews the response where the form guesses what the agent expects. */
function ResponsePreview({ answer }: { readonly answer: Json | undefined }): ReactNode {
  if (answer === undefined) return null;
  return (
    <p className={styles.note}>
      Approving sends <code>{JSON.stringify(answer)}</code>
    </p>
  );
}

function jsonOf(preset: Json | undefined): string {
  return preset === undefined ? "" : JSON.stringify(preset, undefined, 2);
}

/** The form of an interrupt: its fields, and the response that it makes of them. */
export interface ResponseFields {
  /** `undefined`: any text. */
  readonly schema: JsonObject | undefined;
  readonly preset: Json | undefined;
  /** Labels of the buttons that send the input and that decline. */
  readonly submit: string;
  readonly decline: string;
  /** The response that declines, where the interrupt has one. */
  readonly declined: Json | undefined;
  /** The expected shape of the response is a guess, so the response is previewed. */
  readonly isGuess: boolean;
  toResponse(values: Json): Json;
}

const APPROVING = { submit: "Approve", decline: "Reject" };

export const RESPONSE_AS_IS: ResponseFields = {
  schema: undefined,
  preset: undefined,
  submit: "Answer",
  decline: "Decline",
  declined: undefined,
  isGuess: false,
  toResponse: (values) => values,
};

/** The form of an interrupt. For kinds with buttons of their own: the form for every other response. */
export function responseFields(question: Question): ResponseFields {
  const plain: ResponseFields = {
    ...RESPONSE_AS_IS,
    schema: question.schema,
    declined: dismissResponse(question),
  };
  switch (question.kind) {
    case "form":
      return {
        ...plain,
        ...(question.form === "fields" && APPROVING),
        schema: question.fields,
        toResponse: (values) => respondToForm(question, values),
      };
    case "draft":
      return { ...plain, schema: undefined, preset: question.draft };
    case "action":
      return {
        ...plain,
        ...APPROVING,
        schema: schemaOfValues(question.fields),
        preset: question.fields,
        declined: respondToAction(question, "reject"),
        isGuess: true,
        toResponse: (values) => respondToAction(question, "approve", changedOf(question.fields, values)),
      };
    default:
      return plain;
  }
}

/** The values that a person changed, without those of the graph. */
function changedOf(before: JsonObject, values: Json): JsonObject {
  return Object.fromEntries(
    changedValues(before, isJsonObject(values) ? values : {}).flatMap(({ name, after }) => {
      // An emptied field is an empty text, not the graph's value.
      const value = after ?? (typeof before[name] === "string" ? "" : undefined);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
