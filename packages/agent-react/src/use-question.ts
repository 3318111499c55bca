import { useMemo } from "react";
import { type AskedQuestion, askedQuestion, readInterrupt } from "./asked-question.js";
import { useHandleFor } from "./thread-provider.js";
import { useInterruptsFor } from "./use-thread.js";

/**
 * What the agent waits for a person to say: the question of this id, else the first that is open. An agent that asked several
 * together goes on when all are answered.
 */
export function useQuestion(interruptId?: string): AskedQuestion | undefined {
  const handle = useHandleFor("useQuestion()");
  const interrupts = useInterruptsFor("useQuestion()");
  const interrupt =
    interruptId === undefined ? interrupts[0] : interrupts.find(({ id }) => id === interruptId);
  return useMemo(() => {
    if (!interrupt) return undefined;
    // Another tab's answer to another question may be at work right now: this one waits for its turn.
    return askedQuestion(readInterrupt(interrupt), (value) =>
      handle.run({ answers: { [interrupt.id]: value } }, { kind: "queue" }),
    );
  }, [handle, interrupt]);
}
