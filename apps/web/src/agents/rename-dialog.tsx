"use client";

import { type FormEvent, type ReactNode, useId, useState } from "react";
import { Button } from "../agent-ui/primitives/button";
import { Dialog } from "../agent-ui/primitives/dialog";
import { Field, Input } from "../agent-ui/primitives/field";
import { type ThreadRow, useChangeThread } from "../data/thread-lists";
import { titleOf } from "./thread-pages";

interface RenameDialogProps {
  readonly row: ThreadRow;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onRenamed: () => void;
}

export function RenameDialog({ row, isOpen, onClose, onRenamed }: RenameDialogProps): ReactNode {
  const form = useId();
  const changeThread = useChangeThread();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);

  function leave(): void {
    setProblem(undefined);
    onClose();
  }

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const title = String(new FormData(event.currentTarget).get("title")).trim();
    setBusy(true);
    try {
      // `null` restores the derived title: the beginning of the first message.
      await changeThread({ row, change: { title: title === "" ? null : title } });
      onRenamed();
      leave();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  }

  const actions = (
    <>
      <Button onClick={leave}>Cancel</Button>
      <Button type="submit" form={form} look="primary" disabled={isBusy}>
        Rename
      </Button>
    </>
  );
  return (
    <Dialog isOpen={isOpen} onClose={leave} title="Rename thread" size="small" actions={actions}>
      <form id={form} onSubmit={(event) => void submit(event)}>
        <Field label="Title" hint="Leave it empty to name it by what was said first." problem={problem}>
          <Input name="title" defaultValue={titleOf(row)} maxLength={200} autoComplete="off" data-autofocus />
        </Field>
      </form>
    </Dialog>
  );
}
