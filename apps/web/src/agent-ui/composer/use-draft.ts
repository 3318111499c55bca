"use client";

import { messageById, type ThreadMessage } from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useRoute } from "../../shell/use-route";
import { type Attachments, type DraftFile, useAttachments } from "./attachment-limits";
import {
  type Draft,
  type DraftLocator,
  EMPTY_DRAFT,
  isEmptyDraft,
  isSameDraft,
  joinTexts,
  readDraft,
  type SentDraft,
  type StoredFile,
  useDrafts,
} from "./drafts";

interface DraftState {
  readonly text: string;
  setText(text: string): void;
  readonly attachments: Attachments;
  /** Clears the field after a message was sent with this id. A message that did not arrive is restored after a reload. */
  sent(messageId: string): void;
}

/** The draft of this thread, stored by the browser from the first letter until the thread contains the message. */
export function useDraft(area: RefObject<HTMLTextAreaElement | null>): DraftState {
  const drafts = useDrafts();
  const locator = useDraftLocator();
  const attachments = useAttachments();
  const { replace } = attachments;
  const [text, setText] = useState("");
  const [isRestored, setRestored] = useState(false);
  const draft = useMemo((): Draft => {
    const isNamed = locator.threadId !== undefined;
    return { text, files: attachments.files.flatMap((file) => toStoredFile(file, isNamed)) };
  }, [text, attachments.files, locator]);

  const last = useRef({ locator, draft });
  // biome-ignore lint/correctness/useExhaustiveDependencies: once; from then on the page has the newer state
  useLayoutEffect(() => {
    const stored = drafts.read(locator);
    last.current = { locator, draft: stored };
    // A person may have typed before hydration.
    setText(joinTexts(stored.text, area.current?.value ?? ""));
    if (stored.files.length > 0) replace(stored.files);
    setRestored(true);
  }, []);

  useEffect(() => {
    if (!isRestored) return;
    const before = last.current;
    last.current = { locator, draft };
    // Another tab may have written since; its draft must not be deleted.
    const isOurs = isSameDraft(drafts.read(before.locator), before.draft);
    // The thread began while the field had text: the draft moves with it.
    const hasMoved = before.locator !== locator;
    if (hasMoved && isOurs) drafts.write(before.locator, EMPTY_DRAFT);
    if (!isEmptyDraft(draft) || (isOurs && !hasMoved)) drafts.write(locator, draft);
  }, [drafts, locator, draft, isRestored]);

  useOtherTabs(locator, draft, (theirs) => {
    // Other tabs do not know the uploads of this one.
    if (attachments.isUploading) return;
    setText(theirs.text);
    replace(theirs.files);
  });

  const { restore } = attachments;
  const storeSent = useSentDrafts(
    useCallback(
      (back: Draft, isEditRequested: boolean) => {
        setText((before) => joinTexts(back.text, before));
        restore(back.files);
        if (isEditRequested) area.current?.focus();
      },
      [area, restore],
    ),
  );

  return {
    text,
    setText,
    attachments,
    sent(messageId) {
      // The message makes the thread begin, so its files can be found from then on.
      storeSent({
        id: messageId,
        text,
        files: attachments.files.flatMap((file) => toStoredFile(file, true)),
      });
      setText("");
      replace([]);
    },
  };
}

function useDraftLocator(): DraftLocator {
  const { agentId, threadId, visibility } = useThreadHandle();
  const isNamed = useRoute().threadName !== undefined;
  // Sticky: a thread that has begun remains so while the page navigates to the next new thread.
  const hasBegun = useRef(isNamed);
  hasBegun.current ||= isNamed;
  const begun = hasBegun.current;
  return useMemo(
    () => ({ agentId, threadId: begun ? threadId : undefined, visibility }),
    [agentId, threadId, visibility, begun],
  );
}

/**
 * The stored form of a file. Failed ones are omitted; before the thread has a name, only the file name is stored: its bytes could
 * not be found again.
 */
function toStoredFile({ name, state, part }: DraftFile, isNamed: boolean): readonly StoredFile[] {
  if (state === "failed") return [];
  return [part && isNamed ? { name, part } : { name }];
}

/**
 * Shares the draft of a thread between tabs while a tab has no edits of its own: a text sent in one tab must not remain in another
 * to be sent again. The draft of a new thread is not shared.
 */
function useOtherTabs(locator: DraftLocator, draft: Draft, follow: (theirs: Draft) => void): void {
  const drafts = useDrafts();
  const newest = useRef({ draft, follow });
  newest.current = { draft, follow };
  useEffect(() => {
    if (locator.threadId === undefined) return;
    const key = drafts.keyOf(locator);
    const onStorage = (event: StorageEvent) => {
      if (event.key !== key || event.storageArea !== localStorage) return;
      if (!isSameDraft(readDraft(event.oldValue), newest.current.draft)) return;
      newest.current.follow(readDraft(event.newValue));
    };
    addEventListener("storage", onStorage);
    return () => removeEventListener("storage", onStorage);
  }, [drafts, locator]);
}

/**
 * Stores sent messages until they have arrived. A message of an earlier page that the service does not have is passed to
 * `restoreDraft`, and so is one that was requested for editing.
 */
function useSentDrafts(
  restoreDraft: (draft: Draft, isEditRequested: boolean) => void,
): (sent: SentDraft) => void {
  const drafts = useDrafts();
  const handle = useThreadHandle();
  const known = useRef<readonly SentDraft[]>([]);
  const own = useRef(new Set<string>());
  const shown = useRef(new Set<string>());

  const storePending = useCallback(
    (next: readonly SentDraft[]) => {
      known.current = next;
      drafts.writeSent(handle, next);
    },
    [drafts, handle],
  );

  useEffect(() => {
    known.current = drafts.readSent(handle);
    // Subscribes without rendering: this runs with every frame and nearly always has nothing to do.
    const reconcile = () => {
      if (known.current.length === 0) return;
      const { view, connection } = handle.getSnapshot();
      const isComplete =
        view.run !== null && (connection.kind === "live" || connection.kind === "gap-repaired");
      const waiting = known.current.filter((sent) => {
        const message = messageById(view, sent.id);
        const wasShown = shown.current.has(sent.id);
        if (message) shown.current.add(sent.id);
        const isOwn = own.current.has(sent.id);
        const isEditRequested = drafts.isEditRequested(sent.id);
        const became = sentOutcome({ message, isOwn, wasShown, isEditRequested, isComplete });
        if (became === "back") restoreDraft(sent, isEditRequested);
        return became === "waits";
      });
      if (waiting.length < known.current.length) storePending(waiting);
    };
    reconcile();
    return handle.subscribe(reconcile);
  }, [drafts, handle, storePending, restoreDraft]);

  return useCallback(
    (sent) => {
      own.current.add(sent.id);
      storePending([...known.current, sent]);
    },
    [storePending],
  );
}

/** The observed state of a sent message. */
interface SentMessageState {
  /** The message as the page has it now. */
  readonly message: ThreadMessage | undefined;
  /** Sent by this page, not by the page before a reload. */
  readonly isOwn: boolean;
  /** The page has shown it. */
  readonly wasShown: boolean;
  /** Removed from the conversation for editing. */
  readonly isEditRequested: boolean;
  /** The page has loaded the whole thread. */
  readonly isComplete: boolean;
}

/**
 * Classifies a sent message. `waits`: it is in flight, or shown in the conversation as not sent. `settled`: the thread contains it,
 * or it was discarded. `back`: it never arrived and is not shown any more, so it becomes a draft again.
 */
export function sentOutcome(sent: SentMessageState): "waits" | "settled" | "back" {
  const { message, isOwn, wasShown, isEditRequested, isComplete } = sent;
  if (message) return message.local === undefined ? "settled" : "waits";
  if (isEditRequested) return "back";
  if (wasShown) return "settled";
  return isComplete && !isOwn ? "back" : "waits";
}
