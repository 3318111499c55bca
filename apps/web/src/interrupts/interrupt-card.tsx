"use client";

import type { Json } from "@throughline/ai-core";
import { type ReactNode, useId } from "react";
import { formatDuration } from "../conversation/format-duration";
import { Markdown } from "../conversation/markdown/markdown";
import { useNow } from "../conversation/use-now";
import { Icon } from "../design/icon";
import { AnswerForm } from "./answer-form";
import styles from "./interrupt-card.module.css";
import type { Question } from "./read-question";

interface InterruptCardProps {
  readonly question: Question;
  /** Its answer goes off at once; else it is chosen, and goes with others. */
  readonly isAlone: boolean;
  /** The answer that waits to be sent with the others. */
  readonly chosen: Json | undefined;
  readonly isDisabled: boolean;
  readonly onAnswer: (value: Json) => void;
}

/** One question: what is asked, and every way to answer it. */
export function InterruptCard({
  question,
  isAlone,
  chosen,
  isDisabled,
  onAnswer,
}: InterruptCardProps): ReactNode {
  const id = useId();
  const left = useSecondsLeft(question.expiresAt);
  const isOver = left !== undefined && left <= 0;
  const isClosed = isDisabled || isOver;
  return (
    <article className={styles.card} aria-labelledby={id}>
      <div id={id} className={styles.message}>
        <Markdown text={question.message} />
      </div>
      {question.options.length > 0 ? (
        <ul className={styles.options}>
          {question.options.map((option) => {
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
      ) : (
        <AnswerForm
          schema={question.schema}
          isDisabled={isClosed}
          isAlone={isAlone}
          isChosen={chosen !== undefined}
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

function useSecondsLeft(expiresAt: number | undefined): number | undefined {
  const now = useNow(expiresAt !== undefined);
  return expiresAt === undefined ? undefined : Math.ceil((expiresAt - now) / 1_000);
}
