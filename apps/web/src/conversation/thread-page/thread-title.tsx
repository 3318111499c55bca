"use client";

import { useThreadHandle } from "@throughline/agent-react";
import { type FormEvent, type ReactNode, useRef, useState } from "react";
import { titleOf } from "../../agents/thread-row";
import { useCaller } from "../../console/caller";
import { useToaster } from "../../design/toast";
import { useRenameThread } from "../../service/queries/thread-listing";
import styles from "./thread-title.module.css";
import { useIsAwaited } from "./use-is-awaited";
import { useThreadListing } from "./use-thread-title";

/** The thread's title, which is its own editor. */
export function ThreadTitle(): ReactNode {
  const handle = useThreadHandle();
  const { threadId } = handle;
  const reason = useCaller().refusal("edit", handle);
  const listing = useThreadListing();
  const renameThread = useRenameThread(handle);
  /** Shown until the service has told it back. */
  const [renamed, setRenamed] = useState<string>();
  const [draft, setDraft] = useState<string>();
  const toaster = useToaster();
  const button = useRef<HTMLButtonElement>(null);
  const shown = renamed ?? listing.value?.title ?? undefined;
  const isAwaited = useIsAwaited() || listing.isLoading;
  const isNew = !listing.value;

  async function rename(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (draft === undefined) return;
    leave();
    if (draft.trim() === (shown ?? "")) return;
    setRenamed(draft.trim() || undefined);
    try {
      await renameThread(draft);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      toaster.show({ key: "rename", title: "The thread was not renamed", text, tone: "danger" });
    }
    setRenamed(undefined);
  }

  function leave(): void {
    setDraft(undefined);
    requestAnimationFrame(() => button.current?.focus());
  }

  if (draft !== undefined) {
    return (
      <form className={styles.form} onSubmit={rename}>
        <input
          className={styles.input}
          value={draft}
          maxLength={200}
          aria-label="Title of the thread"
          onChange={(event) => setDraft(event.target.value)}
          onBlur={rename}
          onKeyDown={(event) => event.key === "Escape" && leave()}
          // biome-ignore lint/a11y/noAutofocus: somebody has just asked to write here
          autoFocus
        />
      </form>
    );
  }
  return (
    <h1 className={styles.title}>
      {isNew ? (
        <span className={isAwaited ? "visually-hidden" : styles.words}>
          {isAwaited ? "Thread" : "New thread"}
        </span>
      ) : (
        <button
          ref={button}
          type="button"
          className={styles.words}
          title={reason ?? "Rename the thread"}
          aria-disabled={reason !== undefined}
          onClick={() => reason === undefined && setDraft(shown ?? "")}
        >
          {titleOf({ title: shown ?? null, threadName: threadId })}
        </button>
      )}
    </h1>
  );
}
