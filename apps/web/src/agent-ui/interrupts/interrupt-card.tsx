"use client";

import type { OpenQuestion } from "@throughline/agent-react";
import type { Json } from "@throughline/ai-core";
import type { Question, QuestionOption } from "@throughline/questions";
import { type ReactNode, useId, useMemo, useRef, useState } from "react";
import { Markdown } from "../markdown/markdown";
import { Disclosure } from "../primitives/disclosure";
import { Problem } from "../primitives/field";
import { Icon } from "../primitives/icon";
import { isJsonObject, JsonView } from "../primitives/json-tree";
import { formatDuration, useNow } from "../primitives/time";
import { ApprovalForm } from "./approval-form";
import { isApprovable, type RowDraft } from "./approval-rows";
import { AskUserForm } from "./ask-user-form";
import { ElicitationForm } from "./elicitation-form";
import styles from "./interrupt-card.module.css";
import { ANSWER_AS_IS, type AnswerFields, AnswerForm, answerFields } from "./response-form";
import card from "./response-form.module.css";

interface InterruptCardProps {
  readonly asked: OpenQuestion;
  /** Its answer goes off at once; else it is chosen, and goes with others. */
  readonly isAlone: boolean;
  /** The answer that waits to be sent with the others. */
  readonly chosen: Json | undefined;
  /** Decisions about calls that are half made. */
  readonly rows: readonly RowDraft[];
  /** Tool calls that its rows are about, by row. */
  readonly calls?: readonly (string | undefined)[];
  readonly isDisabled: boolean;
  readonly onDraft: (rows: readonly RowDraft[]) => void;
  readonly onAnswer: (value: Json) => void;
}

const NONE: readonly undefined[] = [];

/** One question: what is asked, and every way to answer it. */
export function InterruptCard(props: InterruptCardProps): ReactNode {
  const { asked, isAlone, chosen, rows, calls = NONE, isDisabled, onDraft, onAnswer } = props;
  const id = useId();
  const { question } = asked;
  const options = optionsOf(question);
  const answer = useMemo(() => answerFields(question), [question]);
  const left = useSecondsLeft(asked.expiresAt);
  const [wrong, setWrong] = useState<string>();
  const isOver = left !== undefined && left <= 0;
  const isClosed = isDisabled || isOver;
  const isChosen = chosen !== undefined;

  const isChecking = useRef(false);

  /** What the graph can't take is explained here, before it is sent. */
  async function check(value: Json): Promise<void> {
    if (isChecking.current) return;
    isChecking.current = true;
    // The service checks as well: where the script can't be had, it has the say.
    const judge = await import("./check-response").catch(() => undefined);
    isChecking.current = false;
    const mismatch = judge?.checkAnswer(question, value);
    setWrong(mismatch ? mismatchWords(mismatch) : undefined);
    if (!mismatch) onAnswer(value);
  }
  const give = (value: Json) => void check(value);

  const sending = { isDisabled: isClosed, isAlone, isChosen, onAnswer: give };
  return (
    <article className={card.card} aria-labelledby={id} tabIndex={-1}>
      <div id={id} className={styles.message}>
        {question.kind === "form" && question.title !== undefined && question.title !== question.message && (
          <strong>{question.title}</strong>
        )}
        <Markdown text={question.message} />
      </div>
      <Shown question={question} />
      {options.length > 0 && (
        <Options options={options} chosen={chosen} isAlone={isAlone} isDisabled={isClosed} onChoose={give} />
      )}
      {isApprovable(question) && (
        <ApprovalForm
          question={question}
          drafts={rows}
          calls={calls}
          isDisabled={isClosed}
          isAlone={isAlone}
          isChosen={isChosen}
          onDraft={onDraft}
          onAnswer={give}
        />
      )}
      {question.kind === "elicitation" && <ElicitationForm question={question} {...sending} />}
      {question.kind === "ask_user" && <AskUserForm question={question} {...sending} />}
      {takesWords(question) && <AnswerForm answer={answer} {...sending} />}
      <Problem>{wrong}</Problem>
      {left !== undefined && (
        <p className={styles.expiry}>
          {isOver
            ? "The time to answer is over. Write a message to go on without it."
            : `${formatDuration(left).replace(".0 s", " s")} left to answer`}
        </p>
      )}
      <RawQuestion question={question} isDisabled={isClosed} isAlone={isAlone} onAnswer={give} />
    </article>
  );
}

/** What a question holds besides its words. */
function Shown({ question }: { readonly question: Question }): ReactNode {
  const { kind, value } = question;
  if (kind === "yes_no" && question.details !== undefined)
    return <JsonView label="Details" value={question.details} />;
  if (kind === "form" && isJsonObject(value) && typeof value.context === "object" && value.context !== null)
    return <JsonView label="Context" value={value.context} />;
  // One that holds its words alone has been shown with them.
  const isWords = isJsonObject(value) && Object.values(value).every((part) => part === question.message);
  if (kind === "other" && typeof value !== "string" && value !== null && !isWords)
    return <JsonView label="Asked" value={value} />;
  return null;
}

interface OptionsProps {
  readonly options: readonly QuestionOption[];
  readonly chosen: Json | undefined;
  readonly isAlone: boolean;
  readonly isDisabled: boolean;
  readonly onChoose: (value: Json) => void;
}

function Options({ options, chosen, isAlone, isDisabled, onChoose }: OptionsProps): ReactNode {
  return (
    <ul className={styles.options}>
      {options.map((option) => {
        const isChosen = chosen !== undefined && JSON.stringify(chosen) === JSON.stringify(option.value);
        return (
          <li key={`${option.label} ${option.detail}`}>
            <button
              type="button"
              className={styles.option}
              data-recommended={option.isRecommended}
              aria-pressed={isAlone ? undefined : isChosen}
              disabled={isDisabled}
              onClick={() => onChoose(option.value)}
            >
              <span className={styles.words}>
                <span className={styles.label}>{option.label}</span>
                {option.detail !== "" && <span className={styles.detail}>{option.detail}</span>}
              </span>
              {option.isRecommended && <span className={styles.mark}>Recommended</span>}
              <span className={styles.sign}>
                <Icon name={isChosen ? "check" : "chevronRight"} />
              </span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}

const AS_JSON: AnswerFields = { ...ANSWER_AS_IS, schema: {} };

interface RawQuestionProps {
  readonly question: Question;
  readonly isDisabled: boolean;
  readonly isAlone: boolean;
  readonly onAnswer: (value: Json) => void;
}

/** What the graph passed to `interrupt()`; and, where the ways above are buttons alone, an answer of one's own as JSON. */
function RawQuestion({ question, isDisabled, isAlone, onAnswer }: RawQuestionProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <Disclosure summary="Raw question" className={styles.raw ?? ""} isOpen={isOpen} onToggle={setOpen}>
      {isOpen && (
        <div className={styles.inside}>
          <JsonView label="As the agent asked" value={question.value} />
          {!takesWords(question) && (
            <AnswerForm
              answer={AS_JSON}
              isDisabled={isDisabled}
              isAlone={isAlone}
              isChosen={false}
              onAnswer={onAnswer}
            />
          )}
        </div>
      )}
    </Disclosure>
  );
}

function mismatchWords({ problem, path }: { readonly problem: string; readonly path: string }): string {
  return path === "" ? problem : `${path}: ${problem}`;
}

function takesWords(question: Question): boolean {
  if (question.kind === "yes_no") return question.schema === undefined;
  if (question.kind === "elicitation" || question.kind === "ask_user") return false;
  return question.kind !== "options" && !isApprovable(question);
}

/** The recommended one first. */
function optionsOf(question: Question): readonly QuestionOption[] {
  if (question.kind === "options") {
    return question.options.toSorted((a, b) => Number(b.isRecommended) - Number(a.isRecommended));
  }
  if (question.kind !== "yes_no") return [];
  const option = (label: string, value: Json): QuestionOption => ({
    label,
    detail: "",
    value,
    isRecommended: JSON.stringify(question.schema?.default) === JSON.stringify(value),
  });
  return [option("Yes", question.yes), option("No", question.no)];
}

function useSecondsLeft(expiresAt: number | undefined): number | undefined {
  const now = useNow(expiresAt !== undefined);
  return expiresAt === undefined ? undefined : Math.ceil((expiresAt - now) / 1_000);
}
