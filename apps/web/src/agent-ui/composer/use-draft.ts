"use client";

import { type MessageView, messageById } from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { usePlace } from "../../shell/use-route";
import { type Attachments, type DraftFile, useAttachments } from "./attachment-limits";
import {
  type Draft,
  type DraftPlace,
  EMPTY_DRAFT,
  isEmptyDraft,
  isSameDraft,
  joinTexts,
  type KeptFile,
  readDraft,
  type SentDraft,
  useDrafts,
} from "./drafts";

interface DraftInHand {
  readonly text: string;
  setText(text: string): void;
  readonly attachments: Attachments;
  /** It went off under this id. The field is empty from then on; what did not arrive is there again after a reload. */
  sent(messageId: string): void;
}

/** What a person writes in this thread: kept by the browser from the first letter until the thread holds it. */
export function useDraft(area: RefObject<HTMLTextAreaElement | null>): DraftInHand {
  const drafts = useDrafts();
  const place = useDraftPlace();
  const attachments = useAttachments();
  const { replace } = attachments;
  const [text, setText] = useState("");
  const [isRestored, setRestored] = useState(false);
  const draft = useMemo((): Draft => {
    const isNamed = place.threadId !== undefined;
    return { text, files: attachments.files.flatMap((file) => keptFile(file, isNamed)) };
  }, [text, attachments.files, place]);

  const last = useRef({ place, draft });
  // biome-ignore lint/correctness/useExhaustiveDependencies: once; from then on the page knows better
  useLayoutEffect(() => {
    const kept = drafts.read(place);
    last.current = { place, draft: kept };
    // A person may have typed before hydration.
    setText(joinTexts(kept.text, area.current?.value ?? ""));
    if (kept.files.length > 0) replace(kept.files);
    setRestored(true);
  }, []);

  useEffect(() => {
    if (!isRestored) return;
    const before = last.current;
    last.current = { place, draft };
    // Another tab may have written since, and that draft is not ours to delete.
    const isOurs = isSameDraft(drafts.read(before.place), before.draft);
    // The thread began while something stood in the field: it goes along.
    const hasMoved = before.place !== place;
    if (hasMoved && isOurs) drafts.write(before.place, EMPTY_DRAFT);
    if (!isEmptyDraft(draft) || (isOurs && !hasMoved)) drafts.write(place, draft);
  }, [drafts, place, draft, isRestored]);

  useOtherTabs(place, draft, (theirs) => {
    // What is being uploaded here no other tab knows.
    if (attachments.isUploading) return;
    setText(theirs.text);
    replace(theirs.files);
  });

  const { restore } = attachments;
  const keepSent = useSentDrafts(
    useCallback(
      (back: Draft, isWantedBack: boolean) => {
        setText((before) => joinTexts(back.text, before));
        restore(back.files);
        if (isWantedBack) area.current?.focus();
      },
      [area, restore],
    ),
  );

  return {
    text,
    setText,
    attachments,
    sent(messageId) {
      // In the thread that begins with it, if not before, its files are found.
      keepSent({ id: messageId, text, files: attachments.files.flatMap((file) => keptFile(file, true)) });
      setText("");
      replace([]);
    },
  };
}

function useDraftPlace(): DraftPlace {
  const { agentId, threadId, visibility } = useThreadHandle();
  const isNamed = usePlace().threadName !== undefined;
  // Once it has begun it stays so, also while the page is on its way to the next new thread.
  const hasBegun = useRef(isNamed);
  hasBegun.current ||= isNamed;
  const begun = hasBegun.current;
  return useMemo(
    () => ({ agentId, threadId: begun ? threadId : undefined, visibility }),
    [agentId, threadId, visibility, begun],
  );
}

/** What can't be attached is not kept, and of a thread that has no name yet only names are: its bytes could not be found again. */
function keptFile({ name, state, part }: DraftFile, isNamed: boolean): readonly KeptFile[] {
  if (state === "failed") return [];
  return [part && isNamed ? { name, part } : { name }];
}

/**
 * Tabs of one thread show one draft as long as a tab has nothing of its own: what was sent in one must not stand in another to
 * be sent again. A new thread is each tab's own.
 */
function useOtherTabs(place: DraftPlace, draft: Draft, follow: (theirs: Draft) => void): void {
  const drafts = useDrafts();
  const newest = useRef({ draft, follow });
  newest.current = { draft, follow };
  useEffect(() => {
    if (place.threadId === undefined) return;
    const key = drafts.keyOf(place);
    const hear = (event: StorageEvent) => {
      if (event.key !== key || event.storageArea !== localStorage) return;
      if (!isSameDraft(readDraft(event.oldValue), newest.current.draft)) return;
      newest.current.follow(readDraft(event.newValue));
    };
    addEventListener("storage", hear);
    return () => removeEventListener("storage", hear);
  }, [drafts, place]);
}

/**
 * Remembers what was sent until it has arrived. What a former page sent and the service does not have is given
 * to `takeBack`, and so is what is to be written anew.
 */
function useSentDrafts(takeBack: (draft: Draft, isWantedBack: boolean) => void): (sent: SentDraft) => void {
  const drafts = useDrafts();
  const handle = useThreadHandle();
  const known = useRef<readonly SentDraft[]>([]);
  const own = useRef(new Set<string>());
  const shown = useRef(new Set<string>());

  const keep = useCallback(
    (next: readonly SentDraft[]) => {
      known.current = next;
      drafts.writeSent(handle, next);
    },
    [drafts, handle],
  );

  useEffect(() => {
    known.current = drafts.readSent(handle);
    // Not by a hook that renders: this is asked with every frame, and is nearly always nothing.
    const look = () => {
      if (known.current.length === 0) return;
      const { view, connection } = handle.getSnapshot();
      const isComplete =
        view.run !== null && (connection.kind === "live" || connection.kind === "gap-repaired");
      const waiting = known.current.filter((sent) => {
        const message = messageById(view, sent.id);
        const wasShown = shown.current.has(sent.id);
        if (message) shown.current.add(sent.id);
        const isOwn = own.current.has(sent.id);
        const isWantedBack = drafts.isWantedBack(sent.id);
        const became = sentOutcome({ message, isOwn, wasShown, isWantedBack, isComplete });
        if (became === "back") takeBack(sent, isWantedBack);
        return became === "waits";
      });
      if (waiting.length < known.current.length) keep(waiting);
    };
    look();
    return handle.subscribe(look);
  }, [drafts, handle, keep, takeBack]);

  return useCallback(
    (sent) => {
      own.current.add(sent.id);
      keep([...known.current, sent]);
    },
    [keep],
  );
}

interface Sight {
  /** As the page has it now. */
  readonly message: MessageView | undefined;
  /** It was sent by this very page, not by the one that stood here before a reload. */
  readonly isOwn: boolean;
  /** The page has shown it. */
  readonly wasShown: boolean;
  /** Taken out of the conversation to be written anew. */
  readonly isWantedBack: boolean;
  /** The page holds all that the thread holds. */
  readonly isComplete: boolean;
}

/**
 * What became of a message that was sent. `waits`: it is on its way, or stands in the conversation as not sent. `settled`: the
 * thread holds it, or it was discarded. `back`: it never arrived and nothing shows it any more, so it is a draft again.
 */
export function sentOutcome(sight: Sight): "waits" | "settled" | "back" {
  const { message, isOwn, wasShown, isWantedBack, isComplete } = sight;
  if (message) return message.local === undefined ? "settled" : "waits";
  if (isWantedBack) return "back";
  if (wasShown) return "settled";
  return isComplete && !isOwn ? "back" : "waits";
}
