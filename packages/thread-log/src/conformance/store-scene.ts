import { expect } from "vitest";
import { encodeEnvelope } from "../log/entries.js";
import type { AgingPage, LogStore, StoreAppend } from "../log/log-store.js";
import { type ThreadRef, threadKey } from "../thread-ref.js";
import { note, runEnd } from "./log-scene.js";

/** In the past and in the future: every entry is old enough, or none is. */
export const [EVERY, NONE] = [-1_000, 60_000];

let appends = 0;

/** Each text is a note, each `|run` the end of a run. */
export function appendOf(thread: ThreadRef, ...texts: readonly string[]): StoreAppend {
  appends += 1;
  const envelopes = texts.map((text) =>
    text.startsWith("|") ? runEnd(thread, text.slice(1)) : note(thread, text),
  );
  return {
    thread,
    token: 1n,
    appendId: `store-cases--.${String(appends).padStart(9, "0")}`,
    entries: envelopes.map(encodeEnvelope),
  };
}

export async function written(
  store: LogStore,
  thread: ThreadRef,
  ...texts: readonly string[]
): Promise<string> {
  const opened = await store.open(thread, 1n, undefined);
  if (!opened.ok) throw new Error(`open was refused: ${opened.reason}`);
  for (const text of texts) await store.commit([appendOf(thread, ...text.split(" "))]);
  return opened.head.epoch;
}

export const seqsOf = (entries: readonly { readonly seq: number }[] = []) => entries.map(({ seq }) => seq);
export const bytesOf = ({ entries }: StoreAppend) => entries.reduce((sum, { bytes }) => sum + bytes, 0);

/** Of this account, over all pages; a thread that is there twice is a failure. */
export async function pagesOf(
  account: string,
  next: (page: { after: string | undefined; limit: number }) => Promise<AgingPage>,
  limit: number,
): Promise<string[]> {
  const seen: ThreadRef[] = [];
  let after: string | undefined;
  do {
    const page = await next({ after, limit });
    expect(page.threads.length).toBeLessThanOrEqual(limit);
    seen.push(...page.threads);
    after = page.next;
  } while (after !== undefined);
  expect(new Set(seen.map(threadKey)).size).toBe(seen.length);
  return seen
    .filter((thread) => thread.account === account)
    .map(({ threadId }) => threadId)
    .sort();
}
