"use client";

import type { ThreadSnapshot } from "@throughline/agent-client";
import { useThread, useThreadHandle } from "@throughline/agent-react";
import { type FormEvent, type ReactNode, useRef, useState } from "react";
import { useToaster } from "../agent-ui/primitives/toast";
import { titleOf } from "../agents/thread-pages";
import { useAgentCatalog } from "../data/agents";
import { useCaller } from "../data/caller";
import { useRefreshOnRun } from "../data/refresh-on-run";
import { useListing, useRefreshListing, useRenameThread } from "../data/thread";
import { useTabName } from "../shell/document-title";
import styles from "./thread-title.module.css";

/** The thread's title, editable in place. */
export function ThreadTitle(): ReactNode {
  const handle = useThreadHandle();
  const { threadId } = handle;
  const reason = useCaller().refusal("edit", handle);
  const listing = useThreadListing();
  const renameThread = useRenameThread(handle);
  /** Optimistic title, shown until the service confirmed it. */
  const [renamed, setRenamed] = useState<string>();
  const [draft, setDraft] = useState<string>();
  const toaster = useToaster();
  const button = useRef<HTMLButtonElement>(null);
  const shown = renamed ?? listing.value?.title ?? undefined;
  const isLoading = useIsLoading() || listing.isLoading;
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
          // biome-ignore lint/a11y/noAutofocus: the person has just requested to edit
          autoFocus
        />
      </form>
    );
  }
  return (
    <h1 className={styles.title}>
      {isNew ? (
        <span className={isLoading ? "visually-hidden" : styles.words}>
          {isLoading ? "Thread" : "New thread"}
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

/** Returns the thread's listing. */
export function useThreadListing() {
  return useListing(useThreadHandle(), { enabled: useThread(isListed) });
}

/** Returns the thread's title for display; `undefined` before its first message. */
export function useThreadTitle(): string | undefined {
  const { threadId } = useThreadHandle();
  const { value } = useThreadListing();
  return value ? titleOf({ title: value.title, threadName: threadId }) : undefined;
}

/** Whether the thread is listed: one without runs is not. */
function isListed({ view: { run } }: ThreadSnapshot): boolean {
  return run !== null && run.serviceRunId !== "throughline:empty";
}

/** Names the tab after its thread; the URL names the agent only. */
export function ThreadTabTitle(): null {
  const thread = useThreadHandle();
  const agentName = useAgentCatalog().byId.get(thread.agentId)?.name;
  const title = useThreadTitle();
  const isKnown = title !== undefined && agentName !== undefined;
  // The service sets or changes the title when a run begins or ends.
  useRefreshOnRun(useRefreshListing(thread));
  useTabName(isKnown ? `${title} · ${agentName}` : undefined);
  return null;
}

/** Whether nothing of the thread is known yet, not even whether it is empty. */
export function useIsLoading(): boolean {
  return useThread(isLoadingThread);
}

function isLoadingThread({ view, connection }: ThreadSnapshot): boolean {
  const isConnecting = connection.kind === "closed" || connection.kind === "connecting";
  return view.run === null && isConnecting;
}
