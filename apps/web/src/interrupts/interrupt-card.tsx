"use client";

import type { OpenQuestion } from "@throughline/agent-react";
import type { Json } from "@throughline/ai-core";
import { dismissAnswer, type Question, type QuestionOption } from "@throughline/questions";
import { type ReactNode, useId, useMemo } from "react";
import { Markdown } from "../conversation/markdown/markdown";
import { formatDuration } from "../design/format-duration";
import { Icon } from "../design/icon";
import { JsonView } from "../design/json-view";
import { useNow } from "../design/use-now";
import { answerFields } from "./answer-fields";
import { AnswerForm } from "./answer-form";
import { ApprovalForm } from "./approval-form";
import styles from "./interrupt-card.module.css";

interface InterruptCardProps {
  readonly asked: OpenQuestion;
  /** Its answer goes off at once; else it is chosen, and goes with others. */
  readonly isAlone: boolean;
  /** The answer that waits to be sent with the others. */
  readonly chosen: Json | undefined;
  readonly isDisabled: boolean;
  readonly onAnswer: (value: Json) => void;
}

/** One question: what is asked, and every way to answer it. */
export function InterruptCard({
  asked,
  isAlone,
  chosen,
  isDisabled,
  onAnswer,
}: InterruptCardProps): ReactNode {
  const id = useId();
  const { question } = asked;
  const options = optionsOf(question);
  const answer = useMemo(() => answerFields(question), [question]);
  const left = useSecondsLeft(asked.expiresAt);
  const isOver = left !== undefined && left <= 0;
  const isClosed = isDisabled || isOver;
  return (
    <article className={styles.card} aria-labelledby={id}>
      <div id={id} className={styles.message}>
        <Markdown text={question.message} />
      </div>
      {options.length > 0 && (
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
                  disabled={isClosed}
                  onClick={() => onAnswer(option.value)}
                >
                  <span className={styles.words}>
                    <span className={styles.label}>{option.label}</span>
                    {option.detail !== "" && <span className={styles.detail}>{option.detail}</span>}
                  </span>
                  {option.isRecommended && <span className={styles.mark}>Recommended</span>}
                  {isChosen && <Icon name="check" />}
                </button>
              </li>
            );
          })}
        </ul>
      )}
      {question.kind === "other" && typeof question.value === "object" && question.value !== null && (
        <JsonView label="What the agent asks" value={question.value} />
      )}
      {isApproval(question) && (
        <ApprovalForm
          question={question}
          isDisabled={isClosed}
          isAlone={isAlone}
          isChosen={chosen !== undefined}
          onAnswer={onAnswer}
        />
      )}
      {takesWords(question) && (
        <AnswerForm
          answer={answer}
          isDisabled={isClosed}
          isAlone={isAlone}
          isChosen={chosen !== undefined}
          dismissal={dismissAnswer(question)}
          onAnswer={onAnswer}
        />
      )}
      {left !== undefined && (
        <p className={styles.expiry}>
          {isOver
            ? "The time to answer is over. Write a message to go on without it."
            : `${formatDuration(left).replace(".0 s", " s")} left to answer`}
        </p>
      )}
    </article>
  );
}

type Approvable = Extract<Question, { kind: "approvals" | "approval" | "agent_inbox" }>;

function isApproval(question: Question): question is Approvable {
  return question.kind === "approvals" || question.kind === "approval" || question.kind === "agent_inbox";
}

function takesWords(question: Question): boolean {
  if (question.kind === "yes_no") return question.schema === undefined;
  return question.kind !== "options" && !isApproval(question);
}

/** The recommended one first. */
function optionsOf(question: Question): readonly QuestionOption[] {
  if (question.kind === "options") {
    return question.options.toSorted((a, b) => Number(b.isRecommended) - Number(a.isRecommended));
  }
  if (question.kind !== "yes_no") return [];
  const option = (label: string, value: boolean): QuestionOption => ({
    label,
    detail: "",
    value,
    isRecommended: question.schema?.default === value,
  });
  return [option("Yes", true), option("No", false)];
}

function useSecondsLeft(expiresAt: number | undefined): number | undefined {
  const now = useNow(expiresAt !== undefined);
  return expiresAt === undefined ? undefined : Math.ceil((expiresAt - now) / 1_000);
}
