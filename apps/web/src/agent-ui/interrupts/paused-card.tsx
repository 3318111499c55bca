"use client";

import type { CommandOutcome, ThreadName } from "@throughline/agent-client";
import { useCommands, useThreadHandle } from "@throughline/agent-react";
import { readBreakpoint } from "@throughline/questions";
import dynamic from "next/dynamic";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { useAgentCatalog } from "../../data/agents";
import { useCaller } from "../../data/caller";
import { type Pause, usePause } from "../../data/checkpoints";
import { outcomeText } from "../conversation/outcome-text";
import { useThreadSession } from "../conversation/thread-session";
import { stateSchema } from "../json-schema/state-schema";
import { Button } from "../primitives/button";
import { Problem } from "../primitives/field";
import styles from "./paused-card.module.css";
import card from "./response-form.module.css";

const StateForm = dynamic(() => import("./state-form").then((module) => module.StateForm), { ssr: false });

interface PausedCardProps {
  readonly thread: ThreadName;
  /** Identifies this pause. */
  readonly moment: string;
  readonly onContinue: () => Promise<CommandOutcome>;
  /** Called after an edit. `runId`: the run that wrote it, if there was anything to write. */
  readonly onEdited?: (runId: string | null) => void;
}

/** A graph paused at a breakpoint: it has no interrupt and continues on request. Until then its state can be edited. */
export function PausedCard({ thread, moment, onContinue, onEdited }: PausedCardProps): ReactNode {
  const caller = useCaller();
  const reason = caller.refusal("answer", thread);
  const editReason = caller.refusal("edit_state", thread);
  const { value: pause } = usePause(thread, moment);
  const published = useAgentCatalog().byId.get(thread.agentId)?.outputSchema;
  const opener = useRef<HTMLButtonElement>(null);
  const isClosing = useRef(false);
  const [edited, setEdited] = useState<Pause>();
  const [isSending, setSending] = useState(false);
  const [isSaved, setSaved] = useState(false);
  const [problem, setProblem] = useState<string>();
  const schema = useMemo(
    () => stateSchema(published ?? {}, (edited ?? pause)?.values ?? {}),
    [published, edited, pause],
  );
  const isEditable = pause != null && Object.keys(Object(schema.properties)).length > 0;
  const refusal = reason ?? (isEditable ? editReason : undefined);

  async function continueRun(): Promise<void> {
    setSending(true);
    setSaved(false);
    setProblem(undefined);
    const outcome = await onContinue();
    setSending(false);
    setProblem(outcomeText(outcome));
  }

  function close(): void {
    setEdited(undefined);
    isClosing.current = true;
  }

  // The opener replaces the closed form: a keyboard user continues from it.
  useEffect(() => {
    if (edited || !isClosing.current) return;
    isClosing.current = false;
    opener.current?.focus();
  }, [edited]);

  function saved(runId: string | null, isToContinue: boolean): void {
    close();
    onEdited?.(runId);
    if (isToContinue) void continueRun();
    else setSaved(true);
  }

  return (
    <article className={`${card.card} ${styles.paused}`} tabIndex={-1} aria-label="The agent paused">
      <p>{readBreakpoint([...new Set(pause?.next)]).message}</p>
      {!edited && (
        <div className={card.buttons}>
          <Button
            look="primary"
            disabled={isSending || reason !== undefined}
            onClick={() => void continueRun()}
          >
            Continue
          </Button>
          {isEditable && (
            <Button
              ref={opener}
              disabled={isSending || editReason !== undefined}
              onClick={() => setEdited(pause)}
            >
              Edit state
            </Button>
          )}
        </div>
      )}
      <p className={isSaved && !edited ? card.note : "visually-hidden"} role="status">
        {isSaved && !edited && "Saved. The agent goes on with it when you continue."}
      </p>
      {refusal !== undefined && <p className={card.note}>{refusal}</p>}
      {edited && (
        <StateForm
          key={edited.checkpointId}
          thread={thread}
          seen={edited}
          schema={schema}
          isStale={pause != null && pause.checkpointId !== edited.checkpointId}
          refusal={reason}
          onSaved={saved}
          onStartOver={() => pause && setEdited(pause)}
          onCancel={close}
        />
      )}
      <Problem>{problem}</Problem>
    </article>
  );
}

/** The paused card on the page of its thread. */
export function PausedThread({ runId }: { readonly runId: string }): ReactNode {
  const commands = useCommands();
  const { track, claim } = useThreadSession();
  return (
    <section aria-label="Questions of the agent">
      <PausedCard
        thread={useThreadHandle()}
        moment={runId}
        onContinue={() => track(commands.askAgain())}
        onEdited={(edit) => edit !== null && claim(edit)}
      />
    </section>
  );
}
