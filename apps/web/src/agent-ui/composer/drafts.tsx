"use client";

import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import * as z from "zod/mini";

const fileSchema = z.object({
  name: z.string(),
  /** What the message will say of it. Without it the file is a name alone: its bytes were not kept. */
  part: z.optional(
    z.object({ type: z.literal("binary"), mimeType: z.string(), id: z.string(), filename: z.string() }),
  ),
});
const draftSchema = z.object({ text: z.string(), files: z.array(fileSchema) });
const keptSchema = z.extend(draftSchema, { at: z.number() });
const sentSchema = z.array(z.extend(draftSchema, { id: z.string() }));

/** A message that is being written. */
export type Draft = Readonly<z.output<typeof draftSchema>>;
export type KeptFile = Draft["files"][number];
/** A message that was sent, and that the thread does not hold yet. */
export type SentDraft = Readonly<z.output<typeof sentSchema>[number]>;

export interface DraftPlace {
  readonly agentId: string;
  /** `undefined`: of a thread that has not begun. */
  readonly threadId: string | undefined;
  readonly visibility?: "private" | "account" | undefined;
}

interface DraftStore {
  read(place: DraftPlace): Draft;
  /** An empty one is no longer kept. */
  write(place: DraftPlace, draft: Draft): void;
  readSent(place: DraftPlace): readonly SentDraft[];
  writeSent(place: DraftPlace, sent: readonly SentDraft[]): void;
  /** Asked to be written anew: once its message is gone from the conversation, it is back in the composer. */
  wantBack(messageId: string): void;
  isWantedBack(messageId: string): boolean;
  keyOf(place: DraftPlace): string;
  /** Of other accounts nothing stays, and of this one the newest. */
  tidy(): void;
}

interface DraftStorages {
  /** Of the browser: outlives the tab. */
  readonly browser: Storage;
  /** Of the tab: what it sent is not another tab's to send again. */
  readonly tab: Storage;
}

interface DraftStoreOptions {
  readonly account: string;
  /** Asked for each time: a server has none, and a browser may forbid it. */
  readonly storages: () => DraftStorages;
  readonly now: () => number;
}

export const EMPTY_DRAFT: Draft = { text: "", files: [] };

const PREFIX = "throughline:draft:";
const REMEMBERED = 50;

export function createDraftStore({ account, storages, now }: DraftStoreOptions): DraftStore {
  const own = `${PREFIX}${JSON.stringify(account)}:`;
  const wanted = new Set<string>();
  const keyOf = ({ agentId, threadId, visibility }: DraftPlace) =>
    own + JSON.stringify([agentId, threadId ?? null, ...(visibility === undefined ? [] : [visibility])]);

  /** A full or forbidden storage costs only the reload's memory. */
  function attempt<T>(deed: (storages: DraftStorages) => T): T | undefined {
    try {
      return deed(storages());
    } catch {
      return undefined;
    }
  }

  function read(place: DraftPlace): Draft {
    return attempt(({ browser }) => readDraft(browser.getItem(keyOf(place)))) ?? EMPTY_DRAFT;
  }

  return {
    keyOf,
    read,
    write(place, draft) {
      // Unchanged it is left alone: other tabs hear of every change.
      if (isSameDraft(read(place), draft)) return;
      attempt(({ browser }) => {
        if (isEmptyDraft(draft)) browser.removeItem(keyOf(place));
        else browser.setItem(keyOf(place), JSON.stringify({ ...draft, at: now() }));
      });
    },
    readSent: (place) =>
      attempt(({ tab }) => sentSchema.parse(JSON.parse(tab.getItem(keyOf(place)) ?? "[]"))) ?? [],
    writeSent(place, sent) {
      attempt(({ tab }) => {
        if (sent.length === 0) tab.removeItem(keyOf(place));
        else tab.setItem(keyOf(place), JSON.stringify(sent));
      });
    },
    wantBack: (messageId) => void wanted.add(messageId),
    isWantedBack: (messageId) => wanted.has(messageId),
    tidy() {
      attempt(({ browser, tab }) => {
        for (const storage of [browser, tab]) {
          removeKeys(storage, (key) => !key.startsWith(own));
        }
        const kept = draftKeys(browser)
          .map((key) => ({ key, at: writtenAt(browser.getItem(key)) }))
          .sort((a, b) => b.at - a.at);
        for (const { key } of kept.slice(REMEMBERED)) browser.removeItem(key);
      });
    },
  };
}

/** The next person to sign in finds nothing. */
export function forgetDrafts({ browser, tab }: DraftStorages): void {
  for (const storage of [browser, tab]) removeKeys(storage, () => true);
}

export function readDraft(stored: string | null): Draft {
  const { data } = draftSchema.safeParse(parsed(stored));
  return data ?? EMPTY_DRAFT;
}

export function isEmptyDraft({ text, files }: Draft): boolean {
  return text === "" && files.length === 0;
}

export function isSameDraft(a: Draft, b: Draft): boolean {
  return a.text === b.text && JSON.stringify(a.files) === JSON.stringify(b.files);
}

/** Nothing of either is lost, and nothing is said twice. */
export function joinTexts(first: string, second: string): string {
  if (first.includes(second)) return first;
  return second.includes(first) ? second : `${first}\n\n${second}`;
}

function writtenAt(stored: string | null): number {
  return keptSchema.safeParse(parsed(stored)).data?.at ?? 0;
}

function parsed(stored: string | null): unknown {
  try {
    return JSON.parse(stored ?? "null");
  } catch {
    return null;
  }
}

function draftKeys(storage: Storage): readonly string[] {
  return Array.from({ length: storage.length }, (_, at) => storage.key(at) ?? "").filter((key) =>
    key.startsWith(PREFIX),
  );
}

function removeKeys(storage: Storage, isUnwanted: (key: string) => boolean): void {
  for (const key of draftKeys(storage)) if (isUnwanted(key)) storage.removeItem(key);
}

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
