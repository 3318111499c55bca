"use client";

import { useEffect } from "react";

/** Target of the title: the document, except in tests. */
export interface TitledPage {
  title: string;
}

export interface TabTitle {
  /** Sets the page's name, once it is known; without one, the title is the one that its route declares. */
  name(name: string | undefined): void;
  /** Sets the number of threads that wait for the person, which precedes the title as in mail programs. */
  mark(waiting: number): void;
  /** Rewrites the title; to be called when others may have written it. */
  sync(): void;
}

/**
 * Owns the tab's title, which has two authors. The route's title arrives with its metadata, maybe after the page knows its name:
 * it is stored for later then, and the name is restored.
 */
export function createTabTitle(page: TitledPage): TabTitle {
  let name: string | undefined;
  let waiting = 0;
  let declared = "";
  let shown: string | undefined;

  function sync(): void {
    if (page.title !== shown) declared = page.title;
    const plain = name ?? declared;
    shown = waiting === 0 ? plain : `(${waiting}) ${plain}`;
    if (page.title !== shown) page.title = shown;
  }

  return {
    name(next) {
      name = next;
      sync();
    },
    mark(next) {
      waiting = next;
      sync();
    },
    sync,
  };
}

let tabTitle: TabTitle | undefined;

/** Returns the title of this tab. The first caller creates it; from then on it observes what others write. */
function getTabTitle(): TabTitle {
  if (tabTitle) return tabTitle;
  tabTitle = createTabTitle(document);
  new MutationObserver(tabTitle.sync).observe(document.head, {
    childList: true,
    subtree: true,
    characterData: true,
  });
  return tabTitle;
}

/** Names the tab while the component is mounted; `undefined` where the name is not known yet. */
export function useTabName(name: string | undefined): void {
  useEffect(() => {
    getTabTitle().name(name);
    return () => getTabTitle().name(undefined);
  }, [name]);
}

export function useTabMark(waiting: number): void {
  useEffect(() => getTabTitle().mark(waiting), [waiting]);
}
