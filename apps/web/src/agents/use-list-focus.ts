"use client";

import { useEffect, useRef } from "react";
import type { ThreadRow } from "../service/queries/threads";
import { rowKey } from "./thread-row";

/** Keeps the focus of a keyboard user when the focused row leaves the list and when the list grows. */
export function useListFocus(shown: readonly ThreadRow[] | undefined) {
  const list = useRef<HTMLUListElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const leaving = useRef<{ readonly key: string; readonly at: number }>(undefined);
  const growing = useRef<{ readonly from: Element | null; readonly before: readonly ThreadRow[] }>(undefined);

  useEffect(() => {
    const gone = leaving.current;
    if (!shown || !gone || shown.some((row) => rowKey(row) === gone.key)) return;
    leaving.current = undefined;
    if (isFree()) (linkAt(list.current, Math.min(gone.at, shown.length - 1)) ?? search.current)?.focus();
  }, [shown]);

  useEffect(() => {
    const wish = growing.current;
    if (!shown || !wish) return;
    const known = new Set(wish.before.map(rowKey));
    const newest = wish.before[0]?.lastActivityAt ?? Number.POSITIVE_INFINITY;
    // What is new at the top came by itself.
    const first = shown.findIndex((row) => !known.has(rowKey(row)) && row.lastActivityAt <= newest);
    if (first < 0) return;
    growing.current = undefined;
    if (isFree(wish.from)) linkAt(list.current, first)?.focus();
  }, [shown]);

  return {
    list,
    search,
    /** Call before the row at this place is removed. */
    leaves(key: string, at: number) {
      leaving.current = { key, at };
    },
    /** Call before more rows are loaded. */
    grows() {
      growing.current = { from: document.activeElement, before: shown ?? [] };
    },
  };
}

/** Whether the focus has not moved elsewhere in the meantime. */
function isFree(from?: Element | null): boolean {
  return document.activeElement === document.body || document.activeElement === from;
}

function linkAt(list: HTMLUListElement | null, at: number): HTMLElement | null | undefined {
  return list?.children[at]?.querySelector("a");
}
