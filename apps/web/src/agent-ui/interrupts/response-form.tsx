"use client";

import type { Json, JsonObject } from "@throughline/ai-core";
import { answerAction, answerForm, dismissAnswer, type Question } from "@throughline/questions";
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
import { changedValues } from "../json-schema/values-editor";
import { Button } from "../primitives/button";
import { Field, TextArea } from "../primitives/field";
import { isJsonObject } from "../primitives/json-tree";
import styles from "./response-form.module.css";

interface AnswerFormProps {
  readonly answer: AnswerFields;
  readonly isDisabled: boolean;
  readonly isAlone: boolean;
  /** Its answer waits to be sent with the others. */
  readonly isChosen: boolean;
  readonly onAnswer: (value: Json) => void;
}

const ANY_TEXT: JsonObject = { type: "string", maxLength: 1_000_000 };

/** An answer in fields or in words, and always also as JSON: no form knows everything a graph may want. */
export function AnswerForm({ answer, isDisabled, isAlone, isChosen, onAnswer }: AnswerFormProps): ReactNode {
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
    if (!read.problems) onAnswer(answer.toAnswer(read.value));
  }

  function made(): Json | undefined {
    const read = readDrafts(fields, drafts);
    return read.problems ? undefined : answer.toAnswer(read.value);
  }

  function changeMode(): void {
    if (!isJson) setJsonText((before) => jsonOf(made()) || before);
    setJson(!isJson);
  }

  /** It goes as it is written: JSON is the whole answer. */
  function submitJson(): void {
    try {
      const value: Json = JSON.parse(json);
      setJsonProblem(undefined);
      onAnswer(value);
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
      {answer.isGuess && !isJson && <WhatGoes answer={made()} />}
      <div className={styles.buttons}>
        <Button type="submit" look={isAlone ? "primary" : "plain"} disabled={isDisabled}>
          {isChosen ? "Change the answer" : isJson ? "Answer" : answer.submit}
        </Button>
        {declined !== undefined && (
          <Button disabled={isDisabled} onClick={() => onAnswer(declined)}>
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

/** Where a form guesses what the agent expects, a person sees what it makes of it. */
function WhatGoes({ answer }: { readonly answer: Json | undefined }): ReactNode {
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

/** A form to answer a question with: what to fill in, and the answer it makes. */
export interface AnswerFields {
  /** `undefined`: any text. */
  readonly schema: JsonObject | undefined;
  readonly preset: Json | undefined;
  /** What the buttons say: to send what was filled in, and to decline. */
  readonly submit: string;
  readonly decline: string;
  /** The answer that declines, where the question has one. */
  readonly declined: Json | undefined;
  /** How the graph wants to be answered is a guess: the answer is shown before it goes. */
  readonly isGuess: boolean;
  toAnswer(values: Json): Json;
}

const APPROVING = { submit: "Approve", decline: "Reject" };

export const ANSWER_AS_IS: AnswerFields = {
  schema: undefined,
  preset: undefined,
  submit: "Answer",
  decline: "Decline",
  declined: undefined,
  isGuess: false,
  toAnswer: (values) => values,
};

/** The form of a question. For kinds with buttons of their own: the form for every other answer. */
export function answerFields(question: Question): AnswerFields {
  const plain: AnswerFields = {
    ...ANSWER_AS_IS,
    schema: question.schema,
    declined: dismissAnswer(question),
  };
  switch (question.kind) {
    case "form":
      return {
        ...plain,
        ...(question.form === "fields" && APPROVING),
        schema: question.fields,
        toAnswer: (values) => answerForm(question, values),
      };
    case "draft":
      return { ...plain, schema: undefined, preset: question.draft };
    case "action":
      return {
        ...plain,
        ...APPROVING,
        schema: schemaOfValues(question.fields),
        preset: question.fields,
        declined: answerAction(question, "reject"),
        isGuess: true,
        toAnswer: (values) => answerAction(question, "approve", changedOf(question.fields, values)),
      };
    default:
      return plain;
  }
}

/** What a person changed goes along, and nothing that the graph said itself. */
function changedOf(before: JsonObject, values: Json): JsonObject {
  return Object.fromEntries(
    changedValues(before, isJsonObject(values) ? values : {}).flatMap(({ name, after }) => {
      // A field that was emptied is an empty text, and not what the graph said.
      const value = after ?? (typeof before[name] === "string" ? "" : undefined);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
