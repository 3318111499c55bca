"use client";

import { type FormEvent, type ReactNode, useState } from "react";
import { Button } from "../primitives/button";
import { Field, TextArea } from "../primitives/field";
import editMessageStyles from "./edit-message.module.css";

interface NoteFormProps {
  readonly note: string;
  /** A thrown error is shown, and the form stays open. */
  readonly onSave: (note: string) => Promise<void>;
  readonly onDone: () => void;
}

const LONGEST = 2_000;

/** A form for a note about a message. */
export function NoteForm({ note, onSave, onDone }: NoteFormProps): ReactNode {
  const [draft, setDraft] = useState(note);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();

  async function save(event: FormEvent): Promise<void> {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      await onSave(draft.trim());
    } catch (error) {
      setBusy(false);
      setProblem(error instanceof Error ? error.message : String(error));
    }
  }

  return (
    <form className={editMessageStyles.form} onSubmit={save}>
      <Field label="Note (optional)" hint="Your thumb is saved already." problem={problem}>
        <TextArea
          value={draft}
          rows={2}
          maxLength={LONGEST}
          placeholder="What was good or wrong about it?"
          onChange={(event) => setDraft(event.target.value)}
          onKeyDown={(event) => event.key === "Escape" && onDone()}
          autoFocus
        />
      </Field>
      <div className={editMessageStyles.actions}>
        <Button type="submit" look="primary" disabled={isBusy || draft.trim() === note}>
          Save note
        </Button>
        <Button look="quiet" onClick={onDone}>
          {note === "" ? "No note" : "Cancel"}
        </Button>
      </div>
    </form>
  );
}
