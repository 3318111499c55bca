"use client";

import type { ThreadSnapshot } from "@throughline/agent-client";
import { useThread, useThreadHandle } from "@throughline/agent-react";
import { type FormEvent, type ReactNode, useRef, useState } from "react";
import { useToaster } from "../agent-ui/primitives/toast";
import { titleOf } from "../agents/thread-pages";
import { useAgentCatalog } from "../data/agents";
import { useCaller } from "../data/caller";
import { useRefreshOnRun } from "../data/query";
import { useListing, useRefreshListing, useRenameThread } from "../data/thread";
import { useTabName } from "../shell/document-title";
import styles from "./thread-title.module.css";

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

/** How the thread is listed. */
export function useThreadListing() {
  return useListing(useThreadHandle(), { enabled: useThread(isListed) });
}

/** What a person calls the thread; `undefined` before anything was said in it. */
export function useThreadTitle(): string | undefined {
  const { threadId } = useThreadHandle();
  const { value } = useThreadListing();
  return value ? titleOf({ title: value.title, threadName: threadId }) : undefined;
}

/** A thread in which nothing ran is listed nowhere. */
function isListed({ view: { run } }: ThreadSnapshot): boolean {
  return run !== null && run.serviceRunId !== "throughline:empty";
}

/** Names the tab after its thread; the address alone knows the agent. */
export function ThreadTabTitle(): null {
  const thread = useThreadHandle();
  const agentName = useAgentCatalog().byId.get(thread.agentId)?.name;
  const title = useThreadTitle();
  const isKnown = title !== undefined && agentName !== undefined;
  // That is when the service gives it a title, or another one.
  useRefreshOnRun(useRefreshListing(thread));
  useTabName(isKnown ? `${title} · ${agentName}` : undefined);
  return null;
}

/** Nothing of the thread is known yet: whether it is empty, the service has still to say. */
export function useIsAwaited(): boolean {
  return useThread(isAwaited);
}

function isAwaited({ view, connection }: ThreadSnapshot): boolean {
  const isOnItsWay = connection.kind === "closed" || connection.kind === "connecting";
  return view.run === null && isOnItsWay;
}
