"use client";

import { readInterrupt, useCommands, useInterrupts, useThreadHandle } from "@throughline/agent-react";
import type { Json } from "@throughline/ai-core";
import { type ReactNode, useMemo, useRef, useState } from "react";
import { useCaller } from "../console/caller";
import { outcomeWords } from "../conversation/steering/outcome-words";
import { useSteering } from "../conversation/steering/steering";
import { Button, IconButton } from "../design/button";
import { InterruptCard } from "./interrupt-card";
import styles from "./interrupt-cards.module.css";

type Answers = Readonly<Record<string, Json>>;

/** Everything the agent waits for. One question is answered at once; of several, as many as one has answers for. */
export function InterruptCards(): ReactNode {
  const interrupts = useInterrupts();
  const questions = useMemo(() => interrupts.map(readInterrupt), [interrupts]);
  const commands = useCommands();
  const { track } = useSteering();
  const reason = useCaller().refusal("answer", useThreadHandle());
  const place = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState<Answers>({});
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<string>();

  const isAlone = questions.length === 1;
  const given = questions.filter(({ id }) => Object.hasOwn(chosen, id));

  async function send(answers: Answers): Promise<void> {
    // What has the focus is about to go: whoever goes on by keys goes on from here.
    if (place.current?.contains(document.activeElement)) place.current.focus({ preventScroll: true });
    setSending(true);
    setProblem(undefined);
    // Another tab's answer to another question may be at work right now: this one waits for its turn.
    const outcome = await track(commands.run({ answers }, { kind: "queue" }));
    setSending(false);
    const words = outcome.kind === "done" ? undefined : outcomeWords(outcome);
    setProblem(words);
    // What did not get through need not be chosen again.
    if (words === undefined) setChosen({});
  }

  function choose(id: string, value: Json): void {
    if (isAlone) void send({ [id]: value });
    else setChosen((before) => ({ ...before, [id]: value }));
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
              chosen={isAlone ? undefined : chosen[question.id]}
              isDisabled={isSending || reason !== undefined}
              onAnswer={(value) => choose(question.id, value)}
            />
          ))}
          {reason !== undefined && <p className={styles.count}>{reason}</p>}
          {!isAlone && (
            <div className={styles.together}>
              <Button
                look="primary"
                disabled={isSending || reason !== undefined || given.length === 0}
                onClick={() => void send(Object.fromEntries(given.map(({ id }) => [id, chosen[id] ?? null])))}
              >
                {isSending ? "Sending…" : sendWords(given.length, questions.length)}
              </Button>
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
