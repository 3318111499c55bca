"use client";

import { useEffect, useRef, useState } from "react";
import type { ThreadPage, ThreadRow } from "../data/thread-lists";

export type AskPage = (after: string | undefined, limit: number, signal: AbortSignal) => Promise<ThreadPage>;

export interface ThreadPages {
  /** Newest activity first; `undefined` while the first page is on its way. */
  readonly rows: readonly ThreadRow[] | undefined;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly problem: Error | undefined;
  showMore(): void;
  /** Asks anew for all that is shown beyond the first page: something was changed. */
  refresh(): void;
}

interface Beyond {
  readonly key: string;
  /** The first page and those after it; `undefined` until more is asked for. */
  readonly known?: ThreadPage;
  readonly isLoading?: boolean;
  readonly problem?: Error;
}

const MORE = 50;
/** As many as the service gives at once. */
const MOST = 100;

/** The first page, which others keep up to date, and as many after it as were asked for. Another `key` begins anew. */
export function useThreadPages(key: string, first: ThreadPage | undefined, ask: AskPage): ThreadPages {
  const [kept, setBeyond] = useState<Beyond>({ key });
  const beyond: Beyond = kept.key === key ? kept : { key };
  const leaving = useRef<AbortController>(undefined);

  // biome-ignore lint/correctness/useExhaustiveDependencies: what was asked for under another key no longer counts
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

  async function load(
    known: ThreadPage,
    asked: (signal: AbortSignal) => Promise<ThreadPage>,
    isMore: boolean,
  ) {
    const signal = leaving.current?.signal;
    if (!signal) return;
    setBeyond({ key, known, isLoading: isMore });
    try {
      const page = await asked(signal);
      if (signal.aborted) return;
      // By now the first page may have been told anew.
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
      void load(known, (signal) => ask(after, MORE, signal), true);
    },
    refresh() {
      const { known: shown } = beyond;
      if (shown) void load(shown, (signal) => askFor(shown.threads.length, ask, signal), false);
    },
  };
}

async function askFor(count: number, ask: AskPage, signal: AbortSignal): Promise<ThreadPage> {
  let known: ThreadPage = await ask(undefined, Math.min(MOST, count), signal);
  while (known.next !== null && known.threads.length < count) {
    const page = await ask(known.next, Math.min(MOST, count - known.threads.length), signal);
    known = { threads: joinRows(known.threads, page.threads), next: page.next };
  }
  return known;
}

/**
 * What is known once the first page is told anew. Down to its last thread it is all there is; what is known below stays, so that
 * nothing falls into the gap when a thread moves up.
 */
export function mergeFirst(known: ThreadPage, first: ThreadPage): ThreadPage {
  if (first.next === null) return first;
  const floor = first.threads.at(-1)?.lastActivityAt ?? Number.NEGATIVE_INFINITY;
  const keys = keysOf(first.threads);
  const below = known.threads.filter((row) => !keys.has(rowKey(row)) && row.lastActivityAt <= floor);
  return { threads: [...first.threads, ...below], next: known.next };
}

/** Both, each thread once and as `newer` has it. */
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

/** Tells it from every other thread of its agent: a private and a shared one may have one name. */
export function rowKey({ threadName, visibility }: Named): string {
  return `${visibility ?? "private"} ${threadName}`;
}

/** What a person calls it. A thread without messages has its name alone, if it was given one. */
export function titleOf({ title, threadName }: Pick<ThreadRow, "title" | "threadName">): string {
  return title ?? (isGeneratedName(threadName) ? "Untitled thread" : threadName);
}
/** Whether a client made a thread's name up (a UUID): then it says nothing to a person. */
export function isGeneratedName(threadName: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(threadName);
}
