"use client";

import type { CommandOutcome, ThreadName } from "@throughline/agent-client";
import type { OpenQuestion } from "@throughline/agent-react";
import type { Json } from "@throughline/ai-core";
import { type ReactNode, useCallback, useMemo, useRef, useState } from "react";
import * as z from "zod/mini";
import { useCaller } from "../../data/caller";
import { useDrafts } from "../composer/drafts";
import { outcomeWords } from "../conversation/outcome-text";
import { Button, IconButton } from "../primitives/button";
import { useKeptText } from "../primitives/stored-state";
import { type Approvable, approvalsOf, isApprovable, type RowDraft } from "./approval-rows";
import { InterruptCard } from "./interrupt-card";
import styles from "./interrupt-list.module.css";

type Answers = Readonly<Record<string, Json>>;

interface QuestionCardsProps {
  readonly thread: ThreadName;
  readonly questions: readonly OpenQuestion[];
  /** What the region is called. */
  readonly label: string;
  /** Tool calls that a question's rows are about, by row, where the page shows them. */
  readonly callsOf?: (question: Approvable) => readonly (string | undefined)[];
  /** Answers of this thread are sent by others on the page. */
  readonly isBusy?: boolean;
  readonly onSend: (answers: Answers) => Promise<CommandOutcome>;
}

/** All that a thread waits for. One question is answered at once; of several, as many as one has answers for. */
export function QuestionCards(props: QuestionCardsProps): ReactNode {
  const { thread, questions, label, callsOf, isBusy = false, onSend } = props;
  const reason = useCaller().refusal("answer", thread);
  const place = useRef<HTMLDivElement>(null);
  const { kept, change, forget } = useKeptAnswers(thread);
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<string>();

  const isAlone = questions.length === 1;
  const given = questions.flatMap(({ id }) => {
    const chosen = kept[id]?.chosen;
    return chosen === undefined ? [] : [[id, chosen] as const];
  });
  const everything = useMemo(() => approvalsOf(questions), [questions]);
  const isDisabled = isSending || isBusy || reason !== undefined;

  async function send(answers: Answers): Promise<void> {
    // The focused element is about to go: a keyboard user goes on from here.
    if (place.current?.contains(document.activeElement)) place.current.focus({ preventScroll: true });
    setSending(true);
    setProblem(undefined);
    const outcome = await onSend(answers);
    setSending(false);
    const words = outcome.kind === "done" ? undefined : outcomeWords(outcome);
    setProblem(words);
    // What did not get through need not be chosen again.
    if (words === undefined) forget(Object.keys(answers));
  }

  function choose(id: string, value: Json): void {
    if (isAlone) void send({ [id]: value });
    else change(id, { chosen: value });
  }

  return (
    <div ref={place} className={styles.place} tabIndex={-1}>
      {questions.length > 0 && (
        <section className={styles.cards} aria-label={label}>
          {questions.map((question) => (
            <InterruptCard
              key={question.id}
              asked={question}
              isAlone={isAlone}
              chosen={isAlone ? undefined : kept[question.id]?.chosen}
              rows={kept[question.id]?.rows ?? []}
              calls={isApprovable(question.question) ? (callsOf?.(question.question) ?? []) : []}
              isDisabled={isDisabled}
              onDraft={(rows) => change(question.id, { rows })}
              onAnswer={(value) => choose(question.id, value)}
            />
          ))}
          {reason !== undefined && <p className={styles.count}>{reason}</p>}
          {!isAlone && (
            <div className={styles.together}>
              <Button
                look="primary"
                disabled={isDisabled || given.length === 0}
                onClick={() => void send(Object.fromEntries(given))}
              >
                {isSending ? "Sending…" : sendWords(given.length, questions.length)}
              </Button>
              {everything && (
                <Button disabled={isDisabled} onClick={() => void send(everything)}>
                  Approve all {questions.length}
                </Button>
              )}
              <span className={styles.count} role="status">
                {given.length} of {questions.length} answered. The agent goes on when all are.
              </span>
            </div>
          )}
        </section>
      )}
      {problem !== undefined && (
        <div className={styles.problem} role="alert">
          <p>{problem}</p>
          <IconButton icon="close" label="Dismiss" onClick={() => setProblem(undefined)} />
        </div>
      )}
    </div>
  );
}

function sendWords(given: number, all: number): string {
  if (given === 0 || given === all) return "Send all answers";
  return given === 1 ? "Send this answer" : `Send these ${given} answers`;
}

const rowSchema = z.object({
  verb: z.optional(z.string()),
  fields: z.optional(z.record(z.string(), z.union([z.string(), z.boolean()]))),
  json: z.optional(z.string()),
  words: z.optional(z.string()),
});
const keptSchema = z.record(
  z.string(),
  z.object({ chosen: z.optional(z.json()), rows: z.optional(z.array(rowSchema)) }),
);

/** What was decided about a question and not sent yet. */
export interface KeptAnswer {
  readonly chosen?: Json | undefined;
  readonly rows?: readonly RowDraft[] | undefined;
}
export type KeptAnswers = Readonly<Record<string, KeptAnswer>>;

interface KeptAnswersHold {
  readonly kept: KeptAnswers;
  change(id: string, more: KeptAnswer): void;
  /** These were sent, or are asked no more. */
  forget(ids: readonly string[]): void;
}

/** Half-made decisions of a thread, by question: kept with its drafts, so they outlive a reload and show in other tabs. */
function useKeptAnswers(thread: ThreadName): KeptAnswersHold {
  const [text, setText] = useKeptText(`${useDrafts().keyOf(thread)}:answers`);
  const kept = useMemo(() => readKept(text), [text]);
  const write = useCallback(
    (next: KeptAnswers) => setText(Object.keys(next).length === 0 ? null : JSON.stringify(next)),
    [setText],
  );
  return {
    kept,
    change: (id, more) => write({ ...kept, [id]: { ...kept[id], ...more } }),
    forget: (ids) => write(Object.fromEntries(Object.entries(kept).filter(([id]) => !ids.includes(id)))),
  };
}

function readKept(text: string | null): KeptAnswers {
  try {
    return keptSchema.parse(JSON.parse(text ?? "{}"));
  } catch {
    return {};
  }
}
