"use client";

import { type ReactNode, useState } from "react";
import { Button } from "./button";
import styles from "./confirm-dialog.module.css";
import { Dialog } from "./dialog";

interface ConfirmDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** What will happen, and whether it can be undone. */
  readonly children: ReactNode;
  /** The deed itself: "Delete thread", never "OK". */
  readonly action: string;
  /** Closes when it is done; what it throws is shown, and it stays open. */
  readonly onConfirm: () => Promise<void> | void;
}

/** Asks before what can't be taken back. The way out has the focus. */
export function ConfirmDialog({
  isOpen,
  onClose,
  title,
  children,
  action,
  onConfirm,
}: ConfirmDialogProps): ReactNode {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();

  function leave(): void {
    setProblem(undefined);
    onClose();
  }

  async function confirm(): Promise<void> {
    setBusy(true);
    setProblem(undefined);
    try {
      await onConfirm();
      leave();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  }

  const actions = (
    <>
      <Button onClick={leave} data-autofocus>
        Cancel
      </Button>
      <Button look="danger" onClick={() => void confirm()} disabled={isBusy}>
        {action}
      </Button>
    </>
  );
  return (
    <Dialog isOpen={isOpen} onClose={leave} title={title} size="small" actions={actions}>
      <div className={styles.text}>{children}</div>
      <p className={styles.problem} role="alert">
        {problem}
      </p>
    </Dialog>
  );
}
