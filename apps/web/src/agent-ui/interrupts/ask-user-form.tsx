"use client";

import type { Json } from "@throughline/ai-core";
import {
  type AskUserRequest,
  dismissResponse,
  respondToAskUser,
  type UserChoice,
  type UserPrompt,
} from "@throughline/questions";
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import schemaFormStyles from "../json-schema/schema-form.module.css";
import { Button } from "../primitives/button";
import { Field, Input, Problem } from "../primitives/field";
import card from "./response-form.module.css";

interface AskUserFormProps {
  readonly question: AskUserRequest;
  readonly isDisabled: boolean;
  readonly isSingle: boolean;
  readonly isChosen: boolean;
  readonly onRespond: (value: Json) => void;
}

/** Several questions in one interrupt. Each list of choices ends with "Other", for a free text. */
export function AskUserForm({
  question,
  isDisabled,
  isSingle,
  isChosen,
  onRespond,
}: AskUserFormProps): ReactNode {
  const { prompts } = question;
  const [drafts, setDrafts] = useState<readonly PromptDraft[]>([]);
  const [isChecked, setChecked] = useState<object>();
  const container = useRef<HTMLFormElement>(null);
  const readings = prompts.map((prompt, at) => readPrompt(prompt, drafts[at] ?? NO_DRAFT));
  const dismissal = dismissResponse(question);

  // Focuses the first question that lacks an answer.
  useEffect(() => {
    if (!isChecked) return;
    const wrong = container.current?.querySelector<HTMLElement>("[data-invalid=true], [aria-invalid]");
    const field = wrong?.querySelector<HTMLElement>("input:not([type])") ?? wrong?.querySelector("input");
    (field ?? wrong)?.focus();
  }, [isChecked]);

  function submit(event: FormEvent): void {
    event.preventDefault();
    const answers = readings.flatMap((reading) => ("answer" in reading ? [reading.answer] : []));
    if (answers.length < prompts.length) setChecked({});
    else onRespond(respondToAskUser(question, answers));
  }

  return (
    <form ref={container} className={card.form} onSubmit={submit} noValidate>
      <div className={schemaFormStyles.fields}>
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
        <Button type="submit" look={isSingle ? "primary" : "plain"} disabled={isDisabled}>
          {isChosen ? "Change the answer" : "Answer"}
        </Button>
        {dismissal !== undefined && (
          <Button disabled={isDisabled} onClick={() => onRespond(dismissal)}>
            Cancel
          </Button>
        )}
      </div>
    </form>
  );
}

interface PromptProps {
  readonly prompt: UserPrompt;
  /** The card shows the same text above. */
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
      className={schemaFormStyles.choices}
      disabled={isDisabled}
      aria-describedby={`${id}-problem`}
      data-invalid={problem !== undefined}
    >
      <legend className={isLabelHidden ? "visually-hidden" : schemaFormStyles.legend}>{label}</legend>
      {choicesOf(prompt).map((choice) => {
        const isOn = draft.chosen.includes(choice.value);
        return (
          <div key={choice.value} className={schemaFormStyles.choice}>
            <label className={schemaFormStyles.switch}>
              <input
                type={isSeveral ? "checkbox" : "radio"}
                name={id}
                checked={isOn}
                onChange={(event) => choose(choice.value, event.target.checked)}
              />
              <span>{choice.label}</span>
            </label>
            {choice.isWritten && isOn && (
              <Field
                label={`${choice.label}: in your words`}
                isLabelHidden
                className={schemaFormStyles.own ?? ""}
              >
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

/** The input for one of the questions. */
interface PromptDraft {
  readonly chosen: readonly string[];
  /** The free text: the whole response, or the part that no choice covers. */
  readonly text: string;
}

const NO_DRAFT: PromptDraft = { chosen: [], text: "" };

type PromptReading = { readonly answer: string | readonly string[] } | { readonly problem: string };

const OTHER: UserChoice = { value: "\u0000other", label: "Other", isWritten: true };

/** The choices of a question, followed by one for a free text. */
function choicesOf({ choices }: UserPrompt): readonly UserChoice[] {
  return choices.some(({ isWritten }) => isWritten) ? choices : [...choices, OTHER];
}

function readPrompt(prompt: UserPrompt, { chosen, text }: PromptDraft): PromptReading {
  const words = text.trim();
  const isMissing = { problem: "This needs an answer." };
  if (prompt.type === "text") return words === "" && prompt.isRequired ? isMissing : { answer: words };
  const picked = choicesOf(prompt).filter(({ value }) => chosen.includes(value));
  if (picked.some(({ isWritten }) => isWritten) && words === "") return { problem: "Write your answer." };
  const answers = picked.map(({ value, isWritten }) => (isWritten ? words : value));
  if (answers.length === 0 && prompt.isRequired) return isMissing;
  return { answer: prompt.type === "choices" ? answers : (answers[0] ?? "") };
}
