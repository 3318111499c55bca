"use client";

import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Button, IconButton } from "./button";
import styles from "./dialog.module.css";

interface DialogProps {
  readonly isOpen: boolean;
  /** Escape, a press beside it, or its close button. */
  readonly onClose: () => void;
  readonly title: string;
  readonly children: ReactNode;
  /** Buttons at the foot, the one that goes on last. */
  readonly actions?: ReactNode;
  readonly size?: "small" | "medium" | "large";
}

/** Modal. What is in it exists only while it is open; focus goes in and comes back by itself. */
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
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape is the keyboard's way out, and the browser's own
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

/** A native dialog that is shown above everything while `isOpen`. Focus goes to what is marked `data-autofocus`, else to the first. */
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
