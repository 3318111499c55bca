"use client";

import type { Json } from "@throughline/ai-core";
import { type AskUserQuestion, answerAskUser, dismissAnswer, type UserPrompt } from "@throughline/questions";
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Button } from "../design/button";
import { Field, Input } from "../design/field";
import { Problem } from "../design/problem";
import card from "./card.module.css";
import { choicesOf, NO_DRAFT, type PromptDraft, readPrompt } from "./prompt-drafts";
import styles from "./schema-form.module.css";

interface AskUserFormProps {
  readonly question: AskUserQuestion;
  readonly isDisabled: boolean;
  readonly isAlone: boolean;
  readonly isChosen: boolean;
  readonly onAnswer: (value: Json) => void;
}

/** Several questions at once. Each choice list ends with "Other", for an answer in words. */
export function AskUserForm({
  question,
  isDisabled,
  isAlone,
  isChosen,
  onAnswer,
}: AskUserFormProps): ReactNode {
  const { prompts } = question;
  const [drafts, setDrafts] = useState<readonly PromptDraft[]>([]);
  const [isChecked, setChecked] = useState<object>();
  const place = useRef<HTMLFormElement>(null);
  const readings = prompts.map((prompt, at) => readPrompt(prompt, drafts[at] ?? NO_DRAFT));
  const dismissal = dismissAnswer(question);

  // Focuses the first question that lacks an answer.
  useEffect(() => {
    if (!isChecked) return;
    const wrong = place.current?.querySelector<HTMLElement>("[data-invalid=true], [aria-invalid]");
    const field = wrong?.querySelector<HTMLElement>("input:not([type])") ?? wrong?.querySelector("input");
    (field ?? wrong)?.focus();
  }, [isChecked]);

  function submit(event: FormEvent): void {
    event.preventDefault();
    const answers = readings.flatMap((reading) => ("answer" in reading ? [reading.answer] : []));
    if (answers.length < prompts.length) setChecked({});
    else onAnswer(answerAskUser(question, answers));
  }

  return (
    <form ref={place} className={card.form} onSubmit={submit} noValidate>
      <div className={styles.fields}>
        {prompts.map((prompt, at) => {
          const reading = readings[at];
          return (
            <Prompt
              key={prompt.id}
              prompt={prompt}
              isLabelHidden={prompt.prompt === question.message}
              draft={drafts[at] ?? NO_DRAFT}
              problem={isChecked && reading && "problem" in reading ? reading.problem : undefined}
              isDisabled={isDisabled}
              onChange={(draft) =>
                setDrafts(prompts.map((_, one) => (one === at ? draft : (drafts[one] ?? NO_DRAFT))))
              }
            />
          );
        })}
      </div>
      <div className={card.buttons}>
        <Button type="submit" look={isAlone ? "primary" : "plain"} disabled={isDisabled}>
          {isChosen ? "Change the answer" : "Answer"}
        </Button>
        {dismissal !== undefined && (
          <Button disabled={isDisabled} onClick={() => onAnswer(dismissal)}>
            Cancel
          </Button>
        )}
      </div>
    </form>
  );
}

interface PromptProps {
  readonly prompt: UserPrompt;
  /** The card shows the same words above. */
  readonly isLabelHidden: boolean;
  readonly draft: PromptDraft;
  readonly problem: string | undefined;
  readonly isDisabled: boolean;
  readonly onChange: (draft: PromptDraft) => void;
}

function Prompt({ prompt, isLabelHidden, draft, problem, isDisabled, onChange }: PromptProps): ReactNode {
  const id = useId();
  const label = prompt.isRequired ? prompt.prompt : `${prompt.prompt} (optional)`;
  if (prompt.type === "text") {
    return (
      <Field label={label} isLabelHidden={isLabelHidden} problem={problem}>
        <Input
          value={draft.text}
          disabled={isDisabled}
          onChange={(event) => onChange({ ...draft, text: event.target.value })}
        />
      </Field>
    );
  }
  const isSeveral = prompt.type === "choices";

  function choose(value: string, isOn: boolean): void {
    const others = isSeveral ? draft.chosen.filter((one) => one !== value) : [];
    onChange({ ...draft, chosen: isOn ? [...others, value] : others });
  }

  return (
    <fieldset
      className={styles.choices}
      disabled={isDisabled}
      aria-describedby={`${id}-problem`}
      data-invalid={problem !== undefined}
    >
      <legend className={isLabelHidden ? "visually-hidden" : styles.legend}>{label}</legend>
      {choicesOf(prompt).map((choice) => {
        const isOn = draft.chosen.includes(choice.value);
        return (
          <div key={choice.value} className={styles.choice}>
            <label className={styles.switch}>
              <input
                type={isSeveral ? "checkbox" : "radio"}
                name={id}
                checked={isOn}
                onChange={(event) => choose(choice.value, event.target.checked)}
              />
              <span>{choice.label}</span>
            </label>
            {choice.isWritten && isOn && (
              <Field label={`${choice.label}: in your words`} isLabelHidden className={styles.own ?? ""}>
                <Input
                  value={draft.text}
                  placeholder="In your words"
                  onChange={(event) => onChange({ ...draft, text: event.target.value })}
                />
              </Field>
            )}
          </div>
        );
      })}
      <Problem id={`${id}-problem`}>{problem}</Problem>
    </fieldset>
  );
}
