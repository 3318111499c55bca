"use client";

import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import * as z from "zod/mini";

const fileSchema = z.object({
  name: z.string(),
  /** The content part of the message. Without it, only the name was stored and not the bytes. */
  part: z.optional(
    z.object({ type: z.literal("binary"), mimeType: z.string(), id: z.string(), filename: z.string() }),
  ),
});
const draftSchema = z.object({ text: z.string(), files: z.array(fileSchema) });
const storedSchema = z.extend(draftSchema, { at: z.number() });
const sentSchema = z.array(z.extend(draftSchema, { id: z.string() }));

/** A message being written. */
export type Draft = Readonly<z.output<typeof draftSchema>>;
export type StoredFile = Draft["files"][number];
/** A message that was sent and is not in the thread yet. */
export type SentDraft = Readonly<z.output<typeof sentSchema>[number]>;

/** Identifies the draft of a thread. */
export interface DraftLocator {
  readonly agentId: string;
  /** `undefined`: the thread has not begun. */
  readonly threadId: string | undefined;
  readonly visibility?: "private" | "account" | undefined;
}

interface DraftStore {
  read(locator: DraftLocator): Draft;
  /** Stores a draft; an empty one is deleted. */
  write(locator: DraftLocator, draft: Draft): void;
  readSent(locator: DraftLocator): readonly SentDraft[];
  writeSent(locator: DraftLocator, sent: readonly SentDraft[]): void;
  /** Requests a message for editing: once it has left the conversation, its draft returns to the composer. */
  requestEdit(messageId: string): void;
  isEditRequested(messageId: string): boolean;
  keyOf(locator: DraftLocator): string;
  /** Deletes drafts of other accounts and all but the newest of this one. */
  tidy(): void;
}

interface DraftStorages {
  /** `localStorage`: outlives the tab. */
  readonly browser: Storage;
  /** `sessionStorage`: another tab must not resend the messages of this one. */
  readonly tab: Storage;
}

interface DraftStoreOptions {
  readonly account: string;
  /** Read at each access: a server has none, and a browser may forbid it. */
  readonly storages: () => DraftStorages;
  readonly now: () => number;
}

export const EMPTY_DRAFT: Draft = { text: "", files: [] };

const PREFIX = "throughline:draft:";
const REMEMBERED = 50;

export function createDraftStore({ account, storages, now }: DraftStoreOptions): DraftStore {
  const own = `${PREFIX}${JSON.stringify(account)}:`;
  const wanted = new Set<string>();
  const keyOf = ({ agentId, threadId, visibility }: DraftLocator) =>
    own + JSON.stringify([agentId, threadId ?? null, ...(visibility === undefined ? [] : [visibility])]);

  /** Ignores a full or forbidden storage: drafts then only do not survive a reload. */
  function attempt<T>(operation: (storages: DraftStorages) => T): T | undefined {
    try {
      return operation(storages());
    } catch {
      return undefined;
    }
  }

  function read(locator: DraftLocator): Draft {
    return attempt(({ browser }) => readDraft(browser.getItem(keyOf(locator)))) ?? EMPTY_DRAFT;
  }

  return {
    keyOf,
    read,
    write(locator, draft) {
      // An unchanged draft is not written: other tabs receive an event for every write.
      if (isSameDraft(read(locator), draft)) return;
      attempt(({ browser }) => {
        if (isEmptyDraft(draft)) browser.removeItem(keyOf(locator));
        else browser.setItem(keyOf(locator), JSON.stringify({ ...draft, at: now() }));
      });
    },
    readSent: (locator) =>
      attempt(({ tab }) => sentSchema.parse(JSON.parse(tab.getItem(keyOf(locator)) ?? "[]"))) ?? [],
    writeSent(locator, sent) {
      attempt(({ tab }) => {
        if (sent.length === 0) tab.removeItem(keyOf(locator));
        else tab.setItem(keyOf(locator), JSON.stringify(sent));
      });
    },
    requestEdit: (messageId) => void wanted.add(messageId),
    isEditRequested: (messageId) => wanted.has(messageId),
    tidy() {
      attempt(({ browser, tab }) => {
        for (const storage of [browser, tab]) {
          removeKeys(storage, (key) => !key.startsWith(own));
        }
        const newestFirst = draftKeys(browser)
          .map((key) => ({ key, at: writtenAt(browser.getItem(key)) }))
          .sort((a, b) => b.at - a.at);
        for (const { key } of newestFirst.slice(REMEMBERED)) browser.removeItem(key);
      });
    },
  };
}

/** Deletes all drafts, so that the next person to sign in finds none. */
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

/** Joins two texts without losing or repeating either. */
export function joinTexts(first: string, second: string): string {
  if (first.includes(second)) return first;
  return second.includes(first) ? second : `${first}\n\n${second}`;
}

function writtenAt(stored: string | null): number {
  return storedSchema.safeParse(parsed(stored)).data?.at ?? 0;
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

/** Provides the drafts of an account in this browser. */
export function DraftsProvider(props: { readonly account: string; readonly children: ReactNode }): ReactNode {
  const { account } = props;
  const [drafts] = useState(() =>
    createDraftStore({ account, storages: pageStorages, now: () => Date.now() }),
  );
  useEffect(() => drafts.tidy(), [drafts]);
  return <DraftsContext value={drafts}>{props.children}</DraftsContext>;
}

/** Deletes the drafts of this browser when the session ends: see `signOut`. */
export function forgetPageDrafts(): void {
  try {
    forgetDrafts(pageStorages());
  } catch {
    // A browser that forbids storage has stored nothing.
  }
}

function pageStorages(): DraftStorages {
  return { browser: localStorage, tab: sessionStorage };
}
