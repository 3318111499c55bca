"use client";

import { useEffect, useRef, useState } from "react";
import type { ThreadPage, ThreadRow } from "../data/thread-lists";

export type ReadPage = (after: string | undefined, limit: number, signal: AbortSignal) => Promise<ThreadPage>;

export interface ThreadPages {
  /** Newest activity first; `undefined` while the first page is loading. */
  readonly rows: readonly ThreadRow[] | undefined;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly problem: Error | undefined;
  showMore(): void;
  /** Reloads all rows that are shown beyond the first page, after a change. */
  refresh(): void;
}

interface Beyond {
  readonly key: string;
  /** The first page and those after it; `undefined` until more is requested. */
  readonly known?: ThreadPage;
  readonly isLoading?: boolean;
  readonly problem?: Error;
}

const MORE = 50;
/** Largest page that the service returns. */
const MOST = 100;

/** Holds the first page, which the caller updates, and the pages requested after it. Another `key` starts over. */
export function useThreadPages(key: string, first: ThreadPage | undefined, readPage: ReadPage): ThreadPages {
  const [latest, setBeyond] = useState<Beyond>({ key });
  const beyond: Beyond = latest.key === key ? latest : { key };
  const leaving = useRef<AbortController>(undefined);

  // biome-ignore lint/correctness/useExhaustiveDependencies: requests under another key are aborted
  useEffect(() => {
    leaving.current = new AbortController();
    return () => leaving.current?.abort();
  }, [key]);

  useEffect(() => {
    if (!first) return;
    setBeyond((before) =>
      before.key === key && before.known ? { ...before, known: mergeFirst(before.known, first) } : before,
    );
  }, [key, first]);

  async function loadPages(
    known: ThreadPage,
    load: (signal: AbortSignal) => Promise<ThreadPage>,
    isMore: boolean,
  ) {
    const signal = leaving.current?.signal;
    if (!signal) return;
    setBeyond({ key, known, isLoading: isMore });
    try {
      const page = await load(signal);
      if (signal.aborted) return;
      // The first page may have been updated in the meantime.
      setBeyond((before) => {
        const threads = isMore ? joinRows(before.known?.threads ?? [], page.threads) : page.threads;
        return { key, known: { threads, next: page.next } };
      });
    } catch (error) {
      if (signal.aborted) return;
      const problem = error instanceof Error ? error : new Error(String(error));
      setBeyond((before) => ({ ...before, isLoading: false, problem }));
    }
  }

  const known = beyond.known ?? first;
  return {
    rows: known?.threads,
    hasMore: typeof known?.next === "string",
    isLoading: beyond.isLoading ?? false,
    problem: beyond.problem,
    showMore() {
      const after = known?.next;
      if (!known || typeof after !== "string" || beyond.isLoading) return;
      void loadPages(known, (signal) => readPage(after, MORE, signal), true);
    },
    refresh() {
      const { known: shown } = beyond;
      if (shown) void loadPages(shown, (signal) => readFirst(shown.threads.length, readPage, signal), false);
    },
  };
}

async function readFirst(count: number, readPage: ReadPage, signal: AbortSignal): Promise<ThreadPage> {
  let known: ThreadPage = await readPage(undefined, Math.min(MOST, count), signal);
  while (known.next !== null && known.threads.length < count) {
    const page = await readPage(known.next, Math.min(MOST, count - known.threads.length), signal);
    known = { threads: joinRows(known.threads, page.threads), next: page.next };
  }
  return known;
}

/**
 * Merges a reread first page into the known rows. It is complete down to its last thread; known rows below that stay, so that
 * no thread falls into the gap when one moves up.
 */
export function mergeFirst(known: ThreadPage, first: ThreadPage): ThreadPage {
  if (first.next === null) return first;
  const floor = first.threads.at(-1)?.lastActivityAt ?? Number.NEGATIVE_INFINITY;
  const keys = keysOf(first.threads);
  const below = known.threads.filter((row) => !keys.has(rowKey(row)) && row.lastActivityAt <= floor);
  return { threads: [...first.threads, ...below], next: known.next };
}

/** Joins both lists; a thread of both appears once, as in `newer`. */
export function joinRows(known: readonly ThreadRow[], newer: readonly ThreadRow[]): readonly ThreadRow[] {
  const keys = keysOf(newer);
  return [...known.filter((row) => !keys.has(rowKey(row))), ...newer].toSorted(
    (a, b) => b.lastActivityAt - a.lastActivityAt,
  );
}

function keysOf(rows: readonly ThreadRow[]): ReadonlySet<string> {
  return new Set(rows.map(rowKey));
}

interface Named {
  readonly threadName?: string | undefined;
  readonly visibility?: "account" | undefined;
}

/** Unique key of a thread within its agent: a private and a shared thread may have the same name. */
export function rowKey({ threadName, visibility }: Named): string {
  return `${visibility ?? "private"} ${threadName}`;
}

/** Title for display. A thread without messages shows its name, unless that was generated. */
export function titleOf({ title, threadName }: Pick<ThreadRow, "title" | "threadName">): string {
  return title ?? (isGeneratedName(threadName) ? "Untitled thread" : threadName);
}
/** Whether a client generated the thread's name (a UUID), which means nothing to a person. */
export function isGeneratedName(threadName: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(threadName);
}
