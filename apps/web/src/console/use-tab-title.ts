"use client";

import { useEffect } from "react";
import { createTabTitle, type TabTitle } from "./tab-title";

let tabTitle: TabTitle | undefined;

/** The one of this tab: its first user makes it, and from then on it sees what others write. */
function ofThisTab(): TabTitle {
  if (tabTitle) return tabTitle;
  tabTitle = createTabTitle(document);
  new MutationObserver(tabTitle.look).observe(document.head, {
    childList: true,
    subtree: true,
    characterData: true,
  });
  return tabTitle;
}

/** Names the tab while the component is there; `undefined` where the name is not known yet. */
export function useTabName(name: string | undefined): void {
  useEffect(() => {
    ofThisTab().name(name);
    return () => ofThisTab().name(undefined);
  }, [name]);
}

export function useTabMark(waiting: number): void {
  useEffect(() => ofThisTab().mark(waiting), [waiting]);
}
