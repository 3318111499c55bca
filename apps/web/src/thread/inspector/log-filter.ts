"use client";

import { useRef } from "react";

/** The part of an entry that a filter matches. */
export interface LogLine {
  readonly type: string;
  readonly text: string;
}

interface LogFilter {
  /** `undefined`: every type. */
  readonly type: string | undefined;
  /** Part of the entry's JSON, in any case. */
  readonly search: string;
}

/** Entries of an append-only log that passed the filter so far. */
interface FilteredLog {
  readonly filter: LogFilter;
  readonly generation: number;
  readonly scanned: number;
  /** Indices in the log, in order. Append-only while the filter and the generation stay the same. */
  readonly indices: readonly number[];
}

function isFiltering({ type, search }: LogFilter): boolean {
  return type !== undefined || search.trim() !== "";
}

/** Scans new entries only, not a hundred thousand with each that arrives. */
export function filterLog(
  before: FilteredLog | undefined,
  filter: LogFilter,
  log: { readonly generation: number; readonly count: number; lineAt(index: number): LogLine | undefined },
): FilteredLog {
  const goesOn =
    before?.generation === log.generation &&
    before.filter.type === filter.type &&
    before.filter.search === filter.search &&
    before.scanned <= log.count;
  if (goesOn && before.scanned === log.count) return before;
  const indices = goesOn ? before.indices.slice() : [];
  const search = filter.search.trim().toLowerCase();
  for (let index = goesOn ? before.scanned : 0; index < log.count; index += 1) {
    const line = log.lineAt(index);
    if (!line || (filter.type !== undefined && line.type !== filter.type)) continue;
    if (search === "" || line.text.toLowerCase().includes(search)) indices.push(index);
  }
  return { filter, generation: log.generation, scanned: log.count, indices };
}

interface Grown {
  readonly generation: number;
  readonly count: number;
  lineAt(index: number): LogLine | undefined;
}

export interface ShownLog {
  readonly count: number;
  /** Converts an index of a shown entry to its index in the log. */
  logIndexOf(index: number): number;
}

/** Filters a growing log. */
export function useFilteredLog(log: Grown, filter: LogFilter): ShownLog {
  const before = useRef<FilteredLog>(undefined);
  if (!isFiltering(filter)) return { count: log.count, logIndexOf: (index) => index };
  // A cache of a pure function: rendering twice or not at all changes nothing visible.
  const filtered = filterLog(before.current, filter, log);
  before.current = filtered;
  return { count: filtered.indices.length, logIndexOf: (index) => filtered.indices[index] ?? -1 };
}
