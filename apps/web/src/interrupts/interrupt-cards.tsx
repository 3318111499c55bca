"use client";

import { readInterrupt, useCommands, useInterrupts, useThreadHandle } from "@throughline/agent-react";
import { type ReactNode, useMemo } from "react";
import type { SettledThread } from "../conversation/settled/settled-thread";
import { useSettledThread } from "../conversation/settled/use-settled-thread";
import { useSteering } from "../conversation/steering/steering";
import { gatedCalls, withCall } from "./gated-calls";
import { QuestionCards } from "./question-cards";

/** Everything the agent waits for, on its thread's page. */
export function InterruptCards(): ReactNode {
  const interrupts = useInterrupts();
  const commands = useCommands();
  const { track } = useSteering();
  const messages = useSettledThread(messagesOf);
  const questions = useMemo(
    () => interrupts.map((interrupt) => withCall(readInterrupt(interrupt), messages)),
    [interrupts, messages],
  );
  return (
    <QuestionCards
      thread={useThreadHandle()}
      questions={questions}
      label="Questions of the agent"
      callsOf={(question) => gatedCalls(question, messages)}
      // Another tab's answer to another question may be at work right now: this one waits for its turn.
      onSend={(answers) => track(commands.run({ answers }, { kind: "queue" }))}
    />
  );
}

const messagesOf = ({ messages }: SettledThread) => messages;
