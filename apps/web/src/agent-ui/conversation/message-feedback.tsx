"use client";

import { useThreadHandle } from "@throughline/agent-react";
import dynamic from "next/dynamic";
import { type ReactNode, useState } from "react";
import { useCaller } from "../../data/caller";
import {
  type Feedback,
  useGiveFeedback,
  useOwnFeedback,
  useRemoveFeedback,
} from "../../data/thread-feedback";
import { Button, IconButton } from "../primitives/button";
import { useToaster } from "../primitives/toast";
import messageActionsStyles from "./message-actions.module.css";

const THUMBS = [
  { value: "up", icon: "thumbUp", words: "Good answer" },
  { value: "down", icon: "thumbDown", words: "Bad answer" },
] as const satisfies readonly { value: Feedback["value"]; [key: string]: string }[];

/** Rates a message with one press. */
export function Thumbs({ feedback }: { readonly feedback: MessageFeedback }): ReactNode {
  const { given, reason, press } = feedback;
  return THUMBS.map(({ value, icon, words }) => (
    <IconButton
      key={value}
      icon={icon}
      label={reason === undefined ? words : `${words}: ${reason}`}
      className={messageActionsStyles.thumb}
      aria-pressed={given?.value === value}
      disabled={reason !== undefined}
      onClick={() => void press(value)}
    />
  ));
}

const NoteForm = dynamic(() => import("./note-form").then((module) => module.NoteForm), { ssr: false });

interface FeedbackNoteProps {
  readonly feedback: MessageFeedback;
  /** Called after the field unmounted, which loses the focus. */
  readonly onClosed: () => void;
}

/** The caller's note about a message, or the field to write it in. */
export function FeedbackNote({ feedback, onClosed }: FeedbackNoteProps): ReactNode {
  const { given, reason, isNoting, setNoting, saveNote } = feedback;
  if (!given) return null;
  if (isNoting) {
    const close = () => {
      setNoting(false);
      onClosed();
    };
    const save = (note: string) => saveNote(note).then(close);
    return <NoteForm note={given.note ?? ""} onSave={save} onDone={close} />;
  }
  if (given.note === null) return null;
  return (
    <p className={messageActionsStyles.note}>
      <span>Your note: {given.note}</span>
      {reason === undefined && (
        <Button look="quiet" onClick={() => setNoting(true)}>
          Edit note
        </Button>
      )}
    </p>
  );
}

/** The caller's feedback on one message, with the functions to change it. */
interface MessageFeedback {
  readonly given: Feedback | undefined;
  /** Why the caller may not give feedback. */
  readonly reason: string | undefined;
  /** A note is being written. */
  readonly isNoting: boolean;
  setNoting(isNoting: boolean): void;
  /** Gives a rating; the same one again withdraws it. */
  press(value: Feedback["value"]): Promise<void>;
  /** Saves a note. Throws when the service refuses it. */
  saveNote(note: string): Promise<void>;
}

export function useFeedback(messageId: string, runId: string | undefined): MessageFeedback {
  const thread = useThreadHandle();
  const { subject, refusal } = useCaller();
  const given = useOwnFeedback(thread, messageId, subject);
  const reason = refusal("give_feedback", thread);
  const give = useGiveFeedback(thread);
  const takeBack = useRemoveFeedback(thread);
  const toaster = useToaster();
  const [isNoting, setNoting] = useState(false);
  const about = { messageId, ...(runId !== undefined && { runId }) };

  async function press(value: Feedback["value"]): Promise<void> {
    const isWithdrawal = given?.value === value;
    try {
      if (isWithdrawal) await takeBack(messageId);
      else await give({ ...about, value, ...(given?.note && { note: given.note }) });
      setNoting(!isWithdrawal);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      toaster.show({ key: "feedback", title: "Your feedback was not saved", text, tone: "danger" });
    }
  }

  async function saveNote(note: string): Promise<void> {
    if (!given) return;
    await give({ ...about, value: given.value, note });
  }

  return { given, reason, isNoting, setNoting, press, saveNote };
}
