"use client";

import { useEffect } from "react";
import { useAllListedThreads } from "../agents/activity";
import { markedTitle } from "./tab-title";

/** Marks the tab's title while threads wait for an answer. Pages go on setting the title: the mark is put back. */
export function useWaitingMark(): void {
  const listed = useAllListedThreads();
  const waiting = [...listed.values()]
    .flatMap(({ rows }) => rows ?? [])
    .filter(({ status }) => status === "waiting").length;
  useEffect(() => {
    const mark = () => {
      const title = markedTitle(document.title, waiting);
      if (document.title !== title) document.title = title;
    };
    mark();
    const observer = new MutationObserver(mark);
    observer.observe(document.head, { childList: true, subtree: true, characterData: true });
    return () => observer.disconnect();
  }, [waiting]);
}
