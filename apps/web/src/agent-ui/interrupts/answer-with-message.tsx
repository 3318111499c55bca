"use client";

import { type CommandOutcome, contentText, type ThreadMessage } from "@throughline/agent-client";
import { readInterrupt, useCommands, useInterrupts } from "@throughline/agent-react";
import type { Json } from "@throughline/ai-core";
import { type Question, validateResponse } from "@throughline/questions";
import { type ReactNode, useState } from "react";
import { outcomeText } from "../conversation/outcome-text";
import { useThreadSession } from "../conversation/thread-session";
import { Button } from "../primitives/button";

/** Offers to send an unsent message as the response to the open interrupt, where a text can be one. */
export function RespondWithMessage({ message }: { readonly message: ThreadMessage }): ReactNode {
  const interrupts = useInterrupts();
  const commands = useCommands();
  const { track, discard } = useThreadSession();
  const [outcome, setOutcome] = useState<CommandOutcome>();
  const [only, ...others] = interrupts;
  if (!only || others.length > 0) return null;
  const { question } = readInterrupt(only);
  const answer = responseFromText(question, contentText(message.content).trim());
  if (answer === undefined) return null;

  async function send(id: string, value: Json): Promise<void> {
    const command = commands.run({ answers: { [id]: value } }, { kind: "queue" });
    const sent = await track(command);
    const isAccepted = sent.kind === "done" || outcomeText(sent) === undefined;
    if (isAccepted) discard(message.id);
    else setOutcome(sent);
  }

  return (
    <>
      <Button look="primary" onClick={() => void send(only.id, answer)}>
        Send it as the answer
      </Button>
      {outcome && <p role="alert">{outcomeText(outcome)}</p>}
    </>
  );
}

/** The response that a text makes: the named option, yes or no, or the text itself where the interrupt accepts any. */
export function responseFromText(question: Question, words: string): Json | undefined {
  if (words === "") return undefined;
  const normalized = words.toLowerCase().replace(/[.!]+$/, "");
  switch (question.kind) {
    case "options":
      return question.options.find(({ label }) => label.toLowerCase() === normalized)?.value;
    case "yes_no":
      if (["yes", "y", "ok", "sure"].includes(normalized)) return question.yes;
      if (["no", "n"].includes(normalized)) return question.no;
      return question.schema === undefined ? words : undefined;
    case "draft":
    case "copilotkit":
    case "other":
      return validateResponse(question, words) === null ? words : undefined;
    default:
      return undefined;
  }
}
