"use client";

import { contentText, useMessage, useThreadHandle } from "@throughline/agent-react";
import dynamic from "next/dynamic";
import { memo, type ReactNode, useState } from "react";
import { useCaller } from "../../data/caller";
import { useDrafts } from "../composer/drafts";
import { Button, IconButton } from "../primitives/button";
import { CopyButton } from "../primitives/copy-button";
import { AttachedFiles, contentFiles } from "./attachments";
import { outcomeText } from "./outcome-text";
import { useThreadSession } from "./thread-session";
import styles from "./user-message.module.css";

const RespondWithMessage = dynamic(
  () => import("../interrupts/answer-with-message").then((module) => module.RespondWithMessage),
  { ssr: false },
);
const EditMessage = dynamic(() => import("./edit-message").then((module) => module.EditMessage), {
  ssr: false,
});

export const UserMessage = memo(function UserMessage({ id }: { readonly id: string }): ReactNode {
  const message = useMessage(id);
  const thread = useThreadHandle();
  const { refusal } = useCaller();
  const reason = refusal("edit", thread) ?? refusal("run", thread);
  const [isEditing, setEditing] = useState(false);
  if (!message) return null;
  const text = contentText(message.content);
  if (isEditing) return <EditMessage message={message} text={text} onDone={() => setEditing(false)} />;
  return (
    <div className={styles.message} data-local={message.local}>
      {text !== "" && <p className={styles.text}>{text}</p>}
      <AttachedFiles files={contentFiles(message.content)} thread={thread} />
      {message.local === "unsent" && <Unsent id={id} />}
      {message.local === undefined && (
        <div className={styles.actions}>
          <IconButton
            icon="edit"
            label={reason ?? "Edit and continue in a new thread"}
            disabled={reason !== undefined}
            onClick={() => setEditing(true)}
          />
          <CopyButton text={() => text} label="Copy the message" />
        </div>
      )}
    </div>
  );
});

/** The reason why a message was not sent, with every way to continue. */
function Unsent({ id }: { readonly id: string }): ReactNode {
  const message = useMessage(id);
  const thread = useThreadHandle();
  const { outcomes, resend, discard } = useThreadSession();
  const drafts = useDrafts();
  if (!message) return null;
  const wasTyped = drafts.readSent(thread).some((sent) => sent.id === id);
  const outcome = outcomes.get(id);
  const isBusy = outcome?.kind === "busy";
  const isAsked = outcome?.kind === "refused" && outcome.code === "interrupt_pending";
  const words = (outcome && outcomeText(outcome)) ?? "This was not sent.";
  return (
    <div className={styles.unsent} role="alert">
      <p className={styles.why}>{words}</p>
      <div className={styles.ways}>
        {isBusy && <Button onClick={() => resend(message, "in-turn")}>Send when it is done</Button>}
        {isAsked && <RespondWithMessage message={message} />}
        {(isBusy || isAsked) && (
          <Button onClick={() => resend(message, "instead")}>
            {isBusy ? "Stop it and send" : "Set the question aside and send"}
          </Button>
        )}
        {!isBusy && !isAsked && <Button onClick={() => resend(message, "plainly")}>Send again</Button>}
        {wasTyped && (
          <Button
            onClick={() => {
              drafts.requestEdit(id);
              discard(id);
            }}
          >
            Edit
          </Button>
        )}
        <Button look="quiet" onClick={() => discard(id)}>
          Discard
        </Button>
      </div>
    </div>
  );
}
