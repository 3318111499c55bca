"use client";

import dynamic from "next/dynamic";
import type { ReactNode } from "react";
import { Button } from "../../design/button";
import styles from "./message-actions.module.css";
import type { MessageFeedback } from "./use-feedback";

const NoteForm = dynamic(() => import("./note-form").then((module) => module.NoteForm), { ssr: false });

interface FeedbackNoteProps {
  readonly feedback: MessageFeedback;
  /** The field is gone, and with it the focus. */
  readonly onClosed: () => void;
}

/** What the caller wrote about an answer, or the field to write it in. */
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
    <p className={styles.note}>
      <span>Your note: {given.note}</span>
      {reason === undefined && (
        <Button look="quiet" onClick={() => setNoting(true)}>
          Edit note
        </Button>
      )}
    </p>
  );
}
