"use client";

import type { CommandOutcome, ThreadName } from "@throughline/agent-client";
import type { OpenInterrupt } from "@throughline/agent-react";
import type { Json } from "@throughline/ai-core";
import { type ReactNode, useCallback, useMemo, useRef, useState } from "react";
import * as z from "zod/mini";
import { useCaller } from "../../data/caller";
import { useDrafts } from "../composer/drafts";
import { outcomeText } from "../conversation/outcome-text";
import { Button, IconButton } from "../primitives/button";
import { useStoredText } from "../primitives/stored-state";
import { type Approvable, approvalsOf, isApprovable, type RowDraft } from "./approval-rows";
import { InterruptCard } from "./interrupt-card";
import styles from "./interrupt-list.module.css";

type InterruptResponses = Readonly<Record<string, Json>>;

interface InterruptListProps {
  readonly thread: ThreadName;
  readonly questions: readonly OpenInterrupt[];
  /** Label of the region. */
  readonly label: string;
  /** Tool calls of the rows of an interrupt, by row, where the page shows them. */
  readonly callsOf?: (question: Approvable) => readonly (string | undefined)[];
  /** Another part of the page is sending responses of this thread. */
  readonly isBusy?: boolean;
  readonly onSend: (answers: InterruptResponses) => Promise<CommandOutcome>;
}

/** The open interrupts of a thread. The response to a single one is sent at once; of several, the chosen ones are sent together. */
export function InterruptList(props: InterruptListProps): ReactNode {
  const { thread, questions, label, callsOf, isBusy = false, onSend } = props;
  const reason = useCaller().refusal("answer", thread);
  const container = useRef<HTMLDivElement>(null);
  const { drafts, change, forget } = useResponseDrafts(thread);
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<string>();

  const isSingle = questions.length === 1;
  const given = questions.flatMap(({ id }) => {
    const chosen = drafts[id]?.chosen;
    return chosen === undefined ? [] : [[id, chosen] as const];
  });
  const everything = useMemo(() => approvalsOf(questions), [questions]);
  const isDisabled = isSending || isBusy || reason !== undefined;

  async function send(answers: InterruptResponses): Promise<void> {
    // The focused element will unmount: a keyboard user continues from the container.
    if (container.current?.contains(document.activeElement)) container.current.focus({ preventScroll: true });
    setSending(true);
    setProblem(undefined);
    const outcome = await onSend(answers);
    setSending(false);
    const words = outcome.kind === "done" ? undefined : outcomeText(outcome);
    setProblem(words);
    // A response that was not delivered remains chosen.
    if (words === undefined) forget(Object.keys(answers));
  }

  function choose(id: string, value: Json): void {
    if (isSingle) void send({ [id]: value });
    else change(id, { chosen: value });
  }

  return (
    <div ref={container} className={styles.container} tabIndex={-1}>
      {questions.length > 0 && (
        <section className={styles.cards} aria-label={label}>
          {questions.map((question) => (
            <InterruptCard
              key={question.id}
              asked={question}
              isSingle={isSingle}
              chosen={isSingle ? undefined : drafts[question.id]?.chosen}
              rows={drafts[question.id]?.rows ?? []}
              calls={isApprovable(question.question) ? (callsOf?.(question.question) ?? []) : []}
              isDisabled={isDisabled}
              onDraft={(rows) => change(question.id, { rows })}
              onRespond={(value) => choose(question.id, value)}
            />
          ))}
          {reason !== undefined && <p className={styles.count}>{reason}</p>}
          {!isSingle && (
            <div className={styles.together}>
              <Button
                look="primary"
                disabled={isDisabled || given.length === 0}
                onClick={() => void send(Object.fromEntries(given))}
              >
                {isSending ? "Sending…" : sendLabel(given.length, questions.length)}
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

function sendLabel(given: number, all: number): string {
  if (given === 0 || given === all) return "Send all answers";
  return given === 1 ? "Send this answer" : `Send these ${given} answers`;
}

const rowSchema = z.object({
  verb: z.optional(z.string()),
  fields: z.optional(z.record(z.string(), z.union([z.string(), z.boolean()]))),
  json: z.optional(z.string()),
  words: z.optional(z.string()),
});
const storedSchema = z.record(
  z.string(),
  z.object({ chosen: z.optional(z.json()), rows: z.optional(z.array(rowSchema)) }),
);

/** The unsent response to an interrupt. */
export interface ResponseDraft {
  readonly chosen?: Json | undefined;
  readonly rows?: readonly RowDraft[] | undefined;
}
export type ResponseDrafts = Readonly<Record<string, ResponseDraft>>;

interface ResponseDraftsState {
  readonly drafts: ResponseDrafts;
  change(id: string, more: ResponseDraft): void;
  /** Deletes drafts whose responses were sent, or whose interrupts are closed. */
  forget(ids: readonly string[]): void;
}

/** Unsent responses of a thread, by interrupt. Stored with its drafts, so they outlive a reload and show in other tabs. */
function useResponseDrafts(thread: ThreadName): ResponseDraftsState {
  const [text, setText] = useStoredText(`${useDrafts().keyOf(thread)}:answers`);
  const drafts = useMemo(() => readResponseDrafts(text), [text]);
  const write = useCallback(
    (next: ResponseDrafts) => setText(Object.keys(next).length === 0 ? null : JSON.stringify(next)),
    [setText],
  );
  return {
    drafts,
    change: (id, more) => write({ ...drafts, [id]: { ...drafts[id], ...more } }),
    forget: (ids) => write(Object.fromEntries(Object.entries(drafts).filter(([id]) => !ids.includes(id)))),
  };
}

function readResponseDrafts(text: string | null): ResponseDrafts {
  try {
    return storedSchema.parse(JSON.parse(text ?? "{}"));
  } catch {
    return {};
  }
}
