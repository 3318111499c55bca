"use client";

import { type CommandOutcome, contentText, type MessageView } from "@throughline/agent-client";
import { readInterrupt, useCommands, useInterrupts } from "@throughline/agent-react";
import type { Json } from "@throughline/ai-core";
import { checkAnswer, type Question } from "@throughline/questions";
import { type ReactNode, useState } from "react";
import { outcomeWords } from "../conversation/outcome-text";
import { useSteering } from "../conversation/thread-session";
import { Button } from "../primitives/button";

/** Offers a message that was written while the agent waits as the answer it waits for, where words can be one. */
export function AnswerWithMessage({ message }: { readonly message: MessageView }): ReactNode {
  const interrupts = useInterrupts();
  const commands = useCommands();
  const { track, discard } = useSteering();
  const [outcome, setOutcome] = useState<CommandOutcome>();
  const [only, ...others] = interrupts;
  if (!only || others.length > 0) return null;
  const { question } = readInterrupt(only);
  const answer = answerIn(question, contentText(message.content).trim());
  if (answer === undefined) return null;

  async function send(id: string, value: Json): Promise<void> {
    const command = commands.run({ answers: { [id]: value } }, { kind: "queue" });
    const sent = await track(command);
    const isTaken = sent.kind === "done" || outcomeWords(sent) === undefined;
    if (isTaken) discard(message.id);
    else setOutcome(sent);
  }

  return (
    <>
      <Button look="primary" onClick={() => void send(only.id, answer)}>
        Send it as the answer
      </Button>
      {outcome && <p role="alert">{outcomeWords(outcome)}</p>}
    </>
  );
}

/** The option that was named, a yes or no, or the words themselves where the question takes any. */
export function answerIn(question: Question, words: string): Json | undefined {
  if (words === "") return undefined;
  const said = words.toLowerCase().replace(/[.!]+$/, "");
  switch (question.kind) {
    case "options":
      return question.options.find(({ label }) => label.toLowerCase() === said)?.value;
    case "yes_no":
      if (["yes", "y", "ok", "sure"].includes(said)) return question.yes;
      if (["no", "n"].includes(said)) return question.no;
      return question.schema === undefined ? words : undefined;
    case "draft":
    case "copilotkit":
    case "other":
      return checkAnswer(question, words) === null ? words : undefined;
    default:
      return undefined;
  }
}
