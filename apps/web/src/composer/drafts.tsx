"use client";

import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import { createDraftStore, type DraftStorages, type DraftStore, forgetDrafts } from "./draft-store";

const DraftsContext = createContext<DraftStore | undefined>(undefined);

export function useDrafts(): DraftStore {
  const drafts = useContext(DraftsContext);
  if (!drafts) throw new Error("useDrafts() needs the console's layout above it.");
  return drafts;
}

/** What this account began to write in this browser. */
export function DraftsProvider(props: { readonly account: string; readonly children: ReactNode }): ReactNode {
  const { account } = props;
  const [drafts] = useState(() =>
    createDraftStore({ account, storages: pageStorages, now: () => Date.now() }),
  );
  useEffect(() => drafts.tidy(), [drafts]);
  return <DraftsContext value={drafts}>{props.children}</DraftsContext>;
}

/** With the session: see `signOut`. */
export function forgetPageDrafts(): void {
  try {
    forgetDrafts(pageStorages());
  } catch {
    // Where nothing may be stored, nothing was.
  }
}

function pageStorages(): DraftStorages {
  return { browser: localStorage, tab: sessionStorage };
}
