"use client";

import type { OpenInterrupt } from "@throughline/agent-react";
import type { Json } from "@throughline/ai-core";
import type { InterruptOption, Question } from "@throughline/questions";
import { type ReactNode, useId, useMemo, useRef, useState } from "react";
import { Markdown } from "../markdown/markdown";
import { Disclosure } from "../primitives/disclosure";
import { formatDuration, useNow } from "../primitives/elapsed";
import { Problem } from "../primitives/field";
import { Icon } from "../primitives/icon";
import { isJsonObject } from "../primitives/is-json-object";
import { JsonView } from "../primitives/json-tree";
import { ApprovalForm } from "./approval-form";
import { isApprovable, type RowDraft } from "./approval-rows";
import { AskUserForm } from "./ask-user-form";
import { ElicitationForm } from "./elicitation-form";
import styles from "./interrupt-card.module.css";
import { RESPONSE_AS_IS, type ResponseFields, ResponseForm, responseFields } from "./response-form";
import card from "./response-form.module.css";

interface InterruptCardProps {
  readonly asked: OpenInterrupt;
  /** The only interrupt: its response is sent at once. Else it is chosen, and sent with others. */
  readonly isSingle: boolean;
  /** The response that will be sent with the others. */
  readonly chosen: Json | undefined;
  /** Unfinished decisions about calls. */
  readonly rows: readonly RowDraft[];
  /** Tool calls of its rows, by row. */
  readonly calls?: readonly (string | undefined)[];
  readonly isDisabled: boolean;
  readonly onDraft: (rows: readonly RowDraft[]) => void;
  readonly onRespond: (value: Json) => void;
}

const NONE: readonly undefined[] = [];

/** One interrupt: its message and every way to respond to it. */
export function InterruptCard(props: InterruptCardProps): ReactNode {
  const { asked, isSingle, chosen, rows, calls = NONE, isDisabled, onDraft, onRespond } = props;
  const id = useId();
  const { question } = asked;
  const options = optionsOf(question);
  const answer = useMemo(() => responseFields(question), [question]);
  const left = useSecondsLeft(asked.expiresAt);
  const [wrong, setWrong] = useState<string>();
  const isOver = left !== undefined && left <= 0;
  const isClosed = isDisabled || isOver;
  const isChosen = chosen !== undefined;

  const isChecking = useRef(false);

  /** Checks a response before it is sent, and explains a mismatch. */
  async function check(value: Json): Promise<void> {
    if (isChecking.current) return;
    isChecking.current = true;
    // The service checks as well, and decides where the checker can't be loaded.
    const checker = await import("./check-response").catch(() => undefined);
    isChecking.current = false;
    const mismatch = checker?.validateResponse(question, value);
    setWrong(mismatch ? mismatchText(mismatch) : undefined);
    if (!mismatch) onRespond(value);
  }
  const respond = (value: Json) => void check(value);

  const sending = { isDisabled: isClosed, isSingle, isChosen, onRespond: respond };
  return (
    <article className={card.card} aria-labelledby={id} tabIndex={-1}>
      <div id={id} className={styles.message}>
        {question.kind === "form" && question.title !== undefined && question.title !== question.message && (
          <strong>{question.title}</strong>
        )}
        <Markdown text={question.message} />
      </div>
      <InterruptDetails question={question} />
      {options.length > 0 && (
        <Options
          options={options}
          chosen={chosen}
          isSingle={isSingle}
          isDisabled={isClosed}
          onChoose={respond}
        />
      )}
      {isApprovable(question) && (
        <ApprovalForm
          question={question}
          drafts={rows}
          calls={calls}
          isDisabled={isClosed}
          isSingle={isSingle}
          isChosen={isChosen}
          onDraft={onDraft}
          onRespond={respond}
        />
      )}
      {question.kind === "elicitation" && <ElicitationForm question={question} {...sending} />}
      {question.kind === "ask_user" && <AskUserForm question={question} {...sending} />}
      {takesWords(question) && <ResponseForm answer={answer} {...sending} />}
      <Problem>{wrong}</Problem>
      {left !== undefined && (
        <p className={styles.expiry}>
          {isOver
            ? "The time to answer is over. Write a message to go on without it."
            : `${formatDuration(left).replace(".0 s", " s")} left to answer`}
        </p>
      )}
      <RawInterrupt question={question} isDisabled={isClosed} isSingle={isSingle} onRespond={respond} />
    </article>
  );
}

/** Details of an interrupt in addition to its message. */
function InterruptDetails({ question }: { readonly question: Question }): ReactNode {
  const { kind, value } = question;
  if (kind === "yes_no" && question.details !== undefined)
    return <JsonView label="Details" value={question.details} />;
  if (kind === "form" && isJsonObject(value) && typeof value.context === "object" && value.context !== null)
    return <JsonView label="Context" value={value.context} />;
  // A value that contains only the message adds nothing to it.
  const isWords = isJsonObject(value) && Object.values(value).every((part) => part === question.message);
  if (kind === "other" && typeof value !== "string" && value !== null && !isWords)
    return <JsonView label="Asked" value={value} />;
  return null;
}

interface OptionsProps {
  readonly options: readonly InterruptOption[];
  readonly chosen: Json | undefined;
  readonly isSingle: boolean;
  readonly isDisabled: boolean;
  readonly onChoose: (value: Json) => void;
}

function Options({ options, chosen, isSingle, isDisabled, onChoose }: OptionsProps): ReactNode {
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
              aria-pressed={isSingle ? undefined : isChosen}
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

const AS_JSON: ResponseFields = { ...RESPONSE_AS_IS, schema: {} };

interface RawInterruptProps {
  readonly question: Question;
  readonly isDisabled: boolean;
  readonly isSingle: boolean;
  readonly onRespond: (value: Json) => void;
}

/** The value that the graph passed to `interrupt()`. Where only buttons respond to it, also a field for a response as JSON. */
function RawInterrupt({ question, isDisabled, isSingle, onRespond }: RawInterruptProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <Disclosure summary="Raw question" className={styles.raw ?? ""} isOpen={isOpen} onToggle={setOpen}>
      {isOpen && (
        <div className={styles.inside}>
          <JsonView label="As the agent asked" value={question.value} />
          {!takesWords(question) && (
            <ResponseForm
              answer={AS_JSON}
              isDisabled={isDisabled}
              isSingle={isSingle}
              isChosen={false}
              onRespond={onRespond}
            />
          )}
        </div>
      )}
    </Disclosure>
  );
}

function mismatchText({ problem, path }: { readonly problem: string; readonly path: string }): string {
  return path === "" ? problem : `${path}: ${problem}`;
}

function takesWords(question: Question): boolean {
  if (question.kind === "yes_no") return question.schema === undefined;
  if (question.kind === "elicitation" || question.kind === "ask_user") return false;
  return question.kind !== "options" && !isApprovable(question);
}

/** The recommended one first. */
function optionsOf(question: Question): readonly InterruptOption[] {
  if (question.kind === "options") {
    return question.options.toSorted((a, b) => Number(b.isRecommended) - Number(a.isRecommended));
  }
  if (question.kind !== "yes_no") return [];
  const option = (label: string, value: Json): InterruptOption => ({
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
