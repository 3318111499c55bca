"use client";

import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Button, IconButton } from "./button";
import styles from "./dialog.module.css";

interface DialogProps {
  readonly isOpen: boolean;
  /** Called on Escape, on a press outside and by the close button. */
  readonly onClose: () => void;
  readonly title: string;
  readonly children: ReactNode;
  /** Buttons in the footer, the primary one last. */
  readonly actions?: ReactNode;
  readonly size?: "small" | "medium" | "large";
}

/** A modal dialog. Its content is mounted only while it is open; the browser moves the focus in and back. */
export function Dialog({
  isOpen,
  onClose,
  title,
  children,
  actions,
  size = "medium",
}: DialogProps): ReactNode {
  const ref = useModal(isOpen);
  const titleId = useId();
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the browser closes it on Escape
    <dialog
      ref={ref}
      className={`${styles.dialog} ${styles[size]}`}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === event.currentTarget && onClose()}
    >
      {isOpen && (
        <div className={styles.sheet}>
          <header className={styles.head}>
            <h2 id={titleId}>{title}</h2>
            <IconButton icon="close" label="Close" onClick={onClose} />
          </header>
          <div className={styles.body}>{children}</div>
          {actions !== undefined && <footer className={styles.actions}>{actions}</footer>}
        </div>
      )}
    </dialog>
  );
}

/** Opens a native dialog above everything while `isOpen`. Focuses the element marked `data-autofocus`, else the first one. */
export function useModal(isOpen: boolean) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    if (!dialog || dialog.open === isOpen) return;
    if (!isOpen) {
      dialog.close();
      return;
    }
    dialog.showModal();
    dialog.querySelector<HTMLElement>("[data-autofocus]")?.focus();
  }, [isOpen]);
  return ref;
}

interface ConfirmDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** The consequences of the action, and whether it can be undone. */
  readonly children: ReactNode;
  /** The label of the confirming button, a verb and its object: "Delete thread", never "OK". */
  readonly action: string;
  /** Runs the action. The dialog closes on success; a thrown error is shown and leaves it open. */
  readonly onConfirm: () => Promise<void> | void;
}

/** Asks for confirmation of an irreversible action. Cancel has the initial focus. */
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
