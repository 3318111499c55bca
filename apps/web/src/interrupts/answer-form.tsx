"use client";

import type { Json, JsonObject } from "@throughline/ai-core";
import { type FormEvent, type ReactNode, useMemo, useState } from "react";
import { Button } from "../design/button";
import styles from "./answer-form.module.css";
import { draftsOf, fieldsOf, readDrafts } from "./schema-fields";
import { SchemaForm } from "./schema-form";

interface AnswerFormProps {
  /** `undefined`: any text. */
  readonly schema: JsonObject | undefined;
  readonly isDisabled: boolean;
  readonly isAlone: boolean;
  /** Its answer waits to be sent with the others. */
  readonly isChosen: boolean;
  readonly onAnswer: (value: Json) => void;
}

const ANY_TEXT: JsonObject = { type: "string", maxLength: 10_000 };

export function AnswerForm({
  schema = ANY_TEXT,
  isDisabled,
  isAlone,
  isChosen,
  onAnswer,
}: AnswerFormProps): ReactNode {
  const fields = useMemo(() => {
    const known = fieldsOf(schema);
    return known.length > 0 ? known : fieldsOf(ANY_TEXT);
  }, [schema]);
  const [drafts, setDrafts] = useState(() => draftsOf(fields, schema.default));
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});

  function submit(event: FormEvent): void {
    event.preventDefault();
    const read = readDrafts(fields, drafts);
    setProblems(read.problems ?? {});
    if (!read.problems) onAnswer(read.value);
  }

  return (
    <form className={styles.form} onSubmit={submit}>
      <SchemaForm fields={fields} drafts={drafts} problems={problems} onChange={setDrafts} />
      <div>
        <Button type="submit" look={isAlone ? "primary" : "plain"} disabled={isDisabled}>
          {isChosen ? "Change the answer" : "Answer"}
        </Button>
      </div>
    </form>
  );
}
