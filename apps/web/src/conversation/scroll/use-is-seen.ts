"use client";

import { type RefObject, useLayoutEffect, useState } from "react";

/** Whether an element that the browser skips out of sight has come into sight since it is asked. */
export function useIsSeen(element: RefObject<Element | null>, isAsked: boolean): boolean {
  const [isSeen, setSeen] = useState(false);
  useLayoutEffect(() => {
    if (!isAsked) return;
    const leaving = new AbortController();
    element.current?.addEventListener(
      "contentvisibilityautostatechange",
      (event) => {
        if ("skipped" in event && !event.skipped) setSeen(true);
      },
      { signal: leaving.signal },
    );
    return () => leaving.abort();
  }, [element, isAsked]);
  return isSeen;
}
