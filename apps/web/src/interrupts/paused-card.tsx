"use client";

import type { CommandOutcome, ThreadName } from "@throughline/agent-client";
import { useCommands, useThreadHandle } from "@throughline/agent-react";
import { readBreakpoint } from "@throughline/questions";
import { type ReactNode, useState } from "react";
import { useCaller } from "../console/caller";
import { outcomeWords } from "../conversation/steering/outcome-words";
import { useSteering } from "../conversation/steering/steering";
import { Button } from "../design/button";
import { useNextSteps } from "../service/queries/checkpoints";
import styles from "./paused-card.module.css";

interface PausedCardProps {
  readonly thread: ThreadName;
  /** What tells this pause from the next. */
  readonly moment?: string;
  readonly onContinue: () => Promise<CommandOutcome>;
}

/** A graph that was told to pause before a step: it asks nothing, and goes on when it is told to. */
export function PausedCard({ thread, moment = "", onContinue }: PausedCardProps): ReactNode {
  const reason = useCaller().refusal("answer", thread);
  const { value: steps = [] } = useNextSteps(thread, moment);
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<string>();

  async function goOn(): Promise<void> {
    setSending(true);
    setProblem(undefined);
    const outcome = await onContinue();
    setSending(false);
    setProblem(outcomeWords(outcome));
  }

  return (
    <article className={styles.card} tabIndex={-1} aria-label="The agent paused">
      <p>{readBreakpoint([...new Set(steps)]).message}</p>
      <Button look="primary" disabled={isSending || reason !== undefined} onClick={() => void goOn()}>
        Continue
      </Button>
      {reason !== undefined && <p className={styles.note}>{reason}</p>}
      <p className={styles.problem} role="alert">
        {problem}
      </p>
    </article>
  );
}

/** The same on its thread's page. */
export function PausedThread({ runId }: { readonly runId: string }): ReactNode {
  const commands = useCommands();
  const { track } = useSteering();
  return (
    <section aria-label="Questions of the agent">
      <PausedCard thread={useThreadHandle()} moment={runId} onContinue={() => track(commands.askAgain())} />
    </section>
  );
}
