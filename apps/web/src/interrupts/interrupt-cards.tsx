"use client";

import type { CommandOutcome } from "@throughline/agent-client";
import { useCommands, useInterrupts } from "@throughline/agent-react";
import type { Json } from "@throughline/ai-core";
import { type ReactNode, useMemo, useState } from "react";
import { outcomeWords } from "../conversation/outcome-words";
import { useSteering } from "../conversation/steering";
import { Button } from "../design/button";
import { InterruptCard } from "./interrupt-card";
import styles from "./interrupt-cards.module.css";
import { readQuestion } from "./read-question";

type Answers = Readonly<Record<string, Json>>;

/** Everything the agent waits for. One question is answered at once; several go together, because the agent waits for all. */
export function InterruptCards(): ReactNode {
  const interrupts = useInterrupts();
  const questions = useMemo(() => interrupts.map(readQuestion), [interrupts]);
  const commands = useCommands();
  const { track } = useSteering();
  const [answers, setAnswers] = useState<Answers>({});
  const [isSending, setSending] = useState(false);
  const [outcome, setOutcome] = useState<CommandOutcome>();
  if (questions.length === 0) return null;

  const isAlone = questions.length === 1;
  const given = questions.filter(({ id }) => Object.hasOwn(answers, id)).length;

  async function send(all: Answers): Promise<void> {
    setSending(true);
    setOutcome(undefined);
    // Whatever became of it, the questions themselves say whether they still stand.
    const became = await track(commands.answerAll(all));
    setOutcome(became);
    setSending(false);
    setAnswers({});
  }

  function choose(id: string, value: Json): void {
    if (isAlone) void send({ [id]: value });
    else setAnswers((before) => ({ ...before, [id]: value }));
  }

  const problem = outcome && outcome.kind !== "done" ? outcomeWords(outcome) : undefined;
  return (
    <section className={styles.cards} aria-label="Questions of the agent">
      {questions.map((question) => (
        <InterruptCard
          key={question.id}
          question={question}
          chosen={answers[question.id]}
          isDisabled={isSending}
          onAnswer={(value) => choose(question.id, value)}
        />
      ))}
      {!isAlone && (
        <div className={styles.together}>
          <Button
            look="primary"
            disabled={isSending || given < questions.length}
            onClick={() =>
              void send(
                pick(
                  answers,
                  questions.map(({ id }) => id),
                ),
              )
            }
          >
            {isSending ? "Sending…" : "Send all answers"}
          </Button>
          <span className={styles.count}>
            {given} of {questions.length} answered. The agent waits for all of them.
          </span>
        </div>
      )}
      {problem !== undefined && (
        <p className={styles.problem} role="alert">
          {problem}
        </p>
      )}
    </section>
  );
}

function pick(answers: Answers, ids: readonly string[]): Answers {
  return Object.fromEntries(ids.map((id) => [id, answers[id] ?? null]));
}
