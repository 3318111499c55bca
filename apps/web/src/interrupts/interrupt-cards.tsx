"use client";

import {
  type OpenQuestion,
  readInterrupt,
  useCommands,
  useInterrupts,
  useThreadHandle,
} from "@throughline/agent-react";
import type { Json } from "@throughline/ai-core";
import { type ReactNode, useMemo, useRef, useState } from "react";
import { useCaller } from "../console/caller";
import type { SettledThread } from "../conversation/settled/settled-thread";
import { useSettledThread } from "../conversation/settled/use-settled-thread";
import { outcomeWords } from "../conversation/steering/outcome-words";
import { useSteering } from "../conversation/steering/steering";
import { Button, IconButton } from "../design/button";
import { answerWords } from "./answer-words";
import { approveAll, isApprovable } from "./approval-rows";
import { gatedCalls } from "./gated-calls";
import { InterruptCard } from "./interrupt-card";
import styles from "./interrupt-cards.module.css";
import { useKeptAnswers } from "./use-kept-answers";

type Answers = Readonly<Record<string, Json>>;

/** Everything the agent waits for. One question is answered at once; of several, as many as one has answers for. */
export function InterruptCards(): ReactNode {
  const interrupts = useInterrupts();
  const questions = useMemo(() => interrupts.map(readInterrupt), [interrupts]);
  const commands = useCommands();
  const { track } = useSteering();
  const reason = useCaller().refusal("answer", useThreadHandle());
  const messages = useSettledThread(messagesOf);
  const place = useRef<HTMLDivElement>(null);
  const { kept, change, forget } = useKeptAnswers();
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<string>();

  const isAlone = questions.length === 1;
  const given = questions.flatMap(({ id }) => {
    const chosen = kept[id]?.chosen;
    return chosen === undefined ? [] : [[id, chosen] as const];
  });
  const everything = useMemo(() => approvals(questions), [questions]);
  const isDisabled = isSending || reason !== undefined;

  async function send(answers: Answers): Promise<void> {
    // What has the focus is about to go: whoever goes on by keys goes on from here.
    if (place.current?.contains(document.activeElement)) place.current.focus({ preventScroll: true });
    setSending(true);
    setProblem(undefined);
    // Another tab's answer to another question may be at work right now: this one waits for its turn.
    const outcome = await track(commands.run({ answers }, { kind: "queue" }), wordsFor(questions, answers));
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
        <section className={styles.cards} aria-label="Questions of the agent">
          {questions.map((question) => (
            <InterruptCard
              key={question.id}
              asked={question}
              isAlone={isAlone}
              chosen={isAlone ? undefined : kept[question.id]?.chosen}
              rows={kept[question.id]?.rows ?? []}
              calls={isApprovable(question.question) ? gatedCalls(question.question, messages) : []}
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

const messagesOf = ({ messages }: SettledThread) => messages;

/** Approves every call of every question; `undefined` where one of them asks for something else. */
function approvals(questions: readonly OpenQuestion[]): Answers | undefined {
  const answers: Record<string, Json> = {};
  for (const { id, question } of questions) {
    const answer = isApprovable(question) ? approveAll(question) : undefined;
    if (answer === undefined) return undefined;
    answers[id] = answer;
  }
  return answers;
}

function wordsFor(questions: readonly OpenQuestion[], answers: Answers): string {
  return questions
    .flatMap(({ id, question }) => {
      const answer = answers[id];
      return answer === undefined ? [] : [answerWords(question, answer)];
    })
    .join("; ");
}

function sendWords(given: number, all: number): string {
  if (given === 0 || given === all) return "Send all answers";
  return given === 1 ? "Send this answer" : `Send these ${given} answers`;
}
