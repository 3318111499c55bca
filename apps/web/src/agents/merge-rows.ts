import type { ThreadPage, ThreadRow } from "../service/queries/threads";
import { rowKey } from "./thread-row";

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
