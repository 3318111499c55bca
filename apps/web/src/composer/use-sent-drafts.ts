"use client";

import { messageById } from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import { useCallback, useEffect, useRef } from "react";
import type { Draft, SentDraft } from "./draft-store";
import { useDrafts } from "./drafts";
import { sentOutcome } from "./sent-outcome";

/**
 * Remembers what was sent until it has arrived. What a former page sent and the service does not have is given
 * to `takeBack`, and so is what is to be written anew.
 */
export function useSentDrafts(
  takeBack: (draft: Draft, isWantedBack: boolean) => void,
): (sent: SentDraft) => void {
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
