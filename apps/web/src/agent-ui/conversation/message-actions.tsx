"use client";

import { useThreadHandle } from "@throughline/agent-react";
import dynamic from "next/dynamic";
import { type ReactNode, useRef, useState } from "react";
import { useCaller } from "../../data/caller";
import { useRegenerate } from "../../data/runs";
import { IconButton } from "../primitives/button";
import { CopyButton } from "../primitives/copy-button";
import { useToaster } from "../primitives/toast";
import styles from "./message-actions.module.css";
import { FeedbackNote, Thumbs, useFeedback } from "./message-feedback";
import { startProblem } from "./outcome-text";
import { type StableThread, stableThread, useIsThreadBusy, useStablePart } from "./stable-thread";
import { useThreadSession } from "./thread-session";

const ConfirmDialog = dynamic(() => import("../primitives/dialog").then((module) => module.ConfirmDialog), {
  ssr: false,
});

interface MessageActionsProps {
  readonly id: string;
  /** The run that produced it. */
  readonly runId: string | undefined;
  /** As the agent wrote it, in Markdown. */
  readonly text: string;
  /** Anchor of its turn. */
  readonly anchor: string;
  /** It calls tools: more rows of work follow it, so the actions float and take no row. */
  readonly isStep: boolean;
}

/** Selects the pressed thumb. */
const GIVEN = "[aria-pressed=true]";

/** The actions of a message: copy, link, regenerate, feedback. */
export function MessageActions({ id, runId, text, anchor, isStep }: MessageActionsProps): ReactNode {
  const isNewest = useStablePart(id, isNewestAnswer);
  const feedback = useFeedback(id, runId);
  const row = useRef<HTMLDivElement>(null);
  return (
    <>
      <div
        ref={row}
        className={styles.actions}
        data-pinned={isNewest || feedback.given !== undefined}
        data-floating={isStep}
      >
        <CopyButton text={() => text} label="Copy as Markdown" />
        <CopyButton
          icon="link"
          text={() => `${location.origin}${location.pathname}#${anchor}`}
          label="Copy a link to this turn"
        />
        <Regenerate id={id} />
        <Thumbs feedback={feedback} />
      </div>
      <FeedbackNote
        feedback={feedback}
        onClosed={() => row.current?.querySelector<HTMLElement>(GIVEN)?.focus()}
      />
    </>
  );
}

function isNewestAnswer(stable: StableThread, id: string): boolean {
  return isLast(stable, id) && stable.run?.status !== "running";
}

/** Whether a message is the last one. */
function isLast({ messages }: StableThread, id: string): boolean {
  return messages.at(-1)?.id === id;
}

/** Regenerates a message. Later messages are removed with it, so it asks for confirmation where there are any. */
function Regenerate({ id }: { readonly id: string }): ReactNode {
  const thread = useThreadHandle();
  const regenerate = useRegenerate(thread);
  const { claim } = useThreadSession();
  const toaster = useToaster();
  const [isAsking, setAsking] = useState(false);
  const start = async () => claim(await regenerate(id));

  async function startAtOnce(): Promise<void> {
    try {
      await start();
    } catch (error) {
      toaster.show({ key: "regenerate", title: "The answer was not made again", ...startProblem(error) });
    }
  }

  return (
    <>
      <RegenerateButton
        onClick={() =>
          isLast(stableThread(thread).getSnapshot(), id) ? void startAtOnce() : setAsking(true)
        }
      />
      {isAsking && (
        <ConfirmDialog
          isOpen
          onClose={() => setAsking(false)}
          title="Regenerate this answer?"
          action="Regenerate"
          onConfirm={start}
        >
          This answer and everything after it leave the conversation, and the agent answers again. The history
          keeps what was said.
        </ConfirmDialog>
      )}
    </>
  );
}

/** A component of its own: the only action that rerenders when a run begins or ends. */
function RegenerateButton({ onClick }: { readonly onClick: () => void }): ReactNode {
  const isBusy = useIsThreadBusy();
  const refusal = useCaller().refusal("run", useThreadHandle());
  const reason = refusal ?? (isBusy ? "The agent is busy." : undefined);
  return (
    <IconButton
      icon="refresh"
      label={reason === undefined ? "Regenerate" : `Regenerate: ${reason}`}
      disabled={reason !== undefined}
      onClick={onClick}
    />
  );
}
