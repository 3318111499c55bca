"use client";

import { useEffect } from "react";

/** What is written to: the document, apart from tests. */
export interface TitledPage {
  title: string;
}

export interface TabTitle {
  /** What the page is called, once that is known; without, it has the title that its route declares. */
  name(name: string | undefined): void;
  /** How many threads wait for the person: stands before the title, as mail programs do it. */
  mark(waiting: number): void;
  /** To be called when the title may have been written by others. */
  look(): void;
}

/**
 * The tab's title has two authors. The route's own arrives with its metadata, which may be after the page knows its name: then
 * it is kept for later, and the name is put back.
 */
export function createTabTitle(page: TitledPage): TabTitle {
  let name: string | undefined;
  let waiting = 0;
  let declared = "";
  let shown: string | undefined;

  function look(): void {
    if (page.title !== shown) declared = page.title;
    const plain = name ?? declared;
    shown = waiting === 0 ? plain : `(${waiting}) ${plain}`;
    if (page.title !== shown) page.title = shown;
  }

  return {
    name(next) {
      name = next;
      look();
    },
    mark(next) {
      waiting = next;
      look();
    },
    look,
  };
}

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
