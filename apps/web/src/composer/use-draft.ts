"use client";

import { useThreadHandle } from "@throughline/agent-react";
import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { usePlace } from "../console/use-place";
import {
  type Draft,
  type DraftPlace,
  EMPTY_DRAFT,
  isEmptyDraft,
  isSameDraft,
  joinTexts,
  type KeptFile,
  readDraft,
} from "./draft-store";
import { useDrafts } from "./drafts";
import { type Attachments, type DraftFile, useAttachments } from "./use-attachments";
import { useSentDrafts } from "./use-sent-drafts";

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
