"use client";

import { useThreadHandle } from "@throughline/agent-react";
import dynamic from "next/dynamic";
import { type ReactNode, useCallback, useRef, useState } from "react";
import { useCaller } from "../../console/caller";
import { IconButton } from "../../design/button";
import { CopyButton } from "../../design/copy-button";
import { useToaster } from "../../design/toast";
import { useRegenerate } from "../../service/queries/run-again";
import type { SettledThread } from "../settled/settled-thread";
import { useSettledThread } from "../settled/use-settled-thread";
import { useSteering } from "../steering/steering";
import { FeedbackNote } from "./feedback-note";
import styles from "./message-actions.module.css";
import { Thumbs } from "./thumbs";
import { useFeedback } from "./use-feedback";

const ConfirmDialog = dynamic(
  () => import("../../design/confirm-dialog").then((module) => module.ConfirmDialog),
  { ssr: false },
);

interface MessageActionsProps {
  readonly id: string;
  /** The run that said it. */
  readonly runId: string | undefined;
  /** As the agent wrote it, in Markdown. */
  readonly text: string;
  /** Of the turn that it stands in. */
  readonly anchor: string;
}

/** The thumb that was given. */
const GIVEN = "[aria-pressed=true]";

/** What a person does with an answer. */
export function MessageActions({ id, runId, text, anchor }: MessageActionsProps): ReactNode {
  const standing = useSettledThread(useCallback((settled: SettledThread) => standingOf(settled, id), [id]));
  const feedback = useFeedback(id, runId);
  const row = useRef<HTMLDivElement>(null);
  return (
    <>
      <div
        ref={row}
        className={styles.actions}
        data-kept={standing === "last" || feedback.given !== undefined}
      >
        <CopyButton text={() => text} label="Copy as Markdown" />
        <CopyButton
          icon="link"
          text={() => `${location.origin}${location.pathname}#${anchor}`}
          label="Copy a link to this turn"
        />
        <Regenerate id={id} standing={standing} />
        <Thumbs feedback={feedback} />
      </div>
      <FeedbackNote
        feedback={feedback}
        onClosed={() => row.current?.querySelector<HTMLElement>(GIVEN)?.focus()}
      />
    </>
  );
}

/** `last`: nothing was said after it. */
type Standing = "last" | "earlier" | "busy";

function standingOf({ messages, run }: SettledThread, id: string): Standing {
  if (run?.status === "running") return "busy";
  return messages.at(-1)?.id === id ? "last" : "earlier";
}

/** Makes the answer again. What was said after it goes with it, so a person is asked first where there is such. */
function Regenerate({ id, standing }: { readonly id: string; readonly standing: Standing }): ReactNode {
  const thread = useThreadHandle();
  const regenerate = useRegenerate(thread);
  const { claim } = useSteering();
  const toaster = useToaster();
  const [isAsking, setAsking] = useState(false);
  const reason =
    useCaller().refusal("run", thread) ?? (standing === "busy" ? "The agent is busy." : undefined);
  const start = async () => claim(await regenerate(id));

  async function startAtOnce(): Promise<void> {
    try {
      await start();
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      toaster.show({ key: "regenerate", title: "The answer was not made again", text, tone: "danger" });
    }
  }

  return (
    <>
      <IconButton
        icon="refresh"
        label={reason === undefined ? "Regenerate" : `Regenerate: ${reason}`}
        disabled={reason !== undefined}
        onClick={() => (standing === "last" ? void startAtOnce() : setAsking(true))}
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
