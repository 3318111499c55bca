"use client";

import { createContext, type ReactNode, useCallback, useContext, useState } from "react";
import { Button, IconButton } from "./button";
import styles from "./toast.module.css";

export interface Toast {
  /** A toast with the same key replaces the earlier one. */
  readonly key: string;
  readonly title: string;
  readonly text?: string;
  readonly tone?: "plain" | "waiting" | "danger";
  readonly action?: { readonly label: string; readonly onSelect: () => void };
}

export interface Toaster {
  show(toast: Toast): void;
  dismiss(key: string): void;
}

const AT_ONCE = 3;
const ToasterContext = createContext<Toaster>({ show() {}, dismiss() {} });

/** Shows notices that need a person and concern another page. They stay until dismissed. */
export function useToaster(): Toaster {
  return useContext(ToasterContext);
}

export function ToastProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const dismiss = useCallback((key: string) => setToasts((before) => without(before, key)), []);
  const show = useCallback(
    (toast: Toast) => setToasts((before) => [...without(before, toast.key), toast].slice(-AT_ONCE)),
    [],
  );
  const [toaster] = useState<Toaster>({ show, dismiss });
  return (
    <ToasterContext value={toaster}>
      {children}
      <section className={styles.stack} aria-label="Notices" aria-live="polite">
        {toasts.map((toast) => (
          <ToastNotice key={toast.key} toast={toast} onDone={() => dismiss(toast.key)} />
        ))}
      </section>
    </ToasterContext>
  );
}

function ToastNotice({ toast, onDone }: { readonly toast: Toast; readonly onDone: () => void }): ReactNode {
  const { title, text, tone = "plain", action } = toast;
  return (
    <div className={`${styles.toast} ${styles[tone]}`}>
      <div className={styles.words}>
        <p className={styles.title}>{title}</p>
        {text !== undefined && <p className={styles.text}>{text}</p>}
      </div>
      {action && (
        <Button
          onClick={() => {
            onDone();
            action.onSelect();
          }}
        >
          {action.label}
        </Button>
      )}
      <IconButton icon="close" label={`Dismiss: ${title}`} onClick={onDone} />
    </div>
  );
}

function without(toasts: readonly Toast[], key: string): readonly Toast[] {
  return toasts.filter((toast) => toast.key !== key);
}
