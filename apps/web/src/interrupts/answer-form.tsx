"use client";

import type { Json, JsonObject } from "@throughline/ai-core";
import { type FormEvent, type ReactNode, useMemo, useState } from "react";
import { Button } from "../design/button";
import { Field, TextArea } from "../design/field";
import type { AnswerFields } from "./answer-fields";
import card from "./card.module.css";
import { draftsOf, fieldsOf, hasControls, presetOf, readDrafts } from "./schema-fields";
import { SchemaForm } from "./schema-form";

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
    <form className={card.form} onSubmit={submit}>
      {isJson ? (
        <Field label="Your answer as JSON" problem={jsonProblem}>
          <TextArea isCode value={json} rows={5} onChange={(event) => setJsonText(event.target.value)} />
        </Field>
      ) : (
        <SchemaForm fields={fields} drafts={drafts} problems={problems} onChange={setDrafts} />
      )}
      {answer.isGuess && !isJson && <WhatGoes answer={made()} />}
      <div className={card.buttons}>
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
    <p className={card.note}>
      Approving sends <code>{JSON.stringify(answer)}</code>
    </p>
  );
}

function jsonOf(preset: Json | undefined): string {
  return preset === undefined ? "" : JSON.stringify(preset, undefined, 2);
}
