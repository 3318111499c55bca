"use client";

import { useRef } from "react";

/** What a filter looks at. */
export interface LogLine {
  readonly type: string;
  readonly text: string;
}

interface LogFilter {
  /** `undefined`: every type. */
  readonly type: string | undefined;
  /** Part of the entry's JSON, in whatever case. */
  readonly search: string;
}

/** What passed so far of a log that only grows. */
interface FilteredLog {
  readonly filter: LogFilter;
  readonly generation: number;
  readonly looked: number;
  /** Places in the log, in order. Only ever added to while the filter and the generation stay. */
  readonly places: readonly number[];
}

function isFiltering({ type, search }: LogFilter): boolean {
  return type !== undefined || search.trim() !== "";
}

/** Looks at what is new, not at a hundred thousand entries with each that comes. */
export function filterLog(
  before: FilteredLog | undefined,
  filter: LogFilter,
  log: { readonly generation: number; readonly count: number; lineAt(index: number): LogLine | undefined },
): FilteredLog {
  const goesOn =
    before?.generation === log.generation &&
    before.filter.type === filter.type &&
    before.filter.search === filter.search &&
    before.looked <= log.count;
  if (goesOn && before.looked === log.count) return before;
  const places = goesOn ? before.places.slice() : [];
  const search = filter.search.trim().toLowerCase();
  for (let index = goesOn ? before.looked : 0; index < log.count; index += 1) {
    const line = log.lineAt(index);
    if (!line || (filter.type !== undefined && line.type !== filter.type)) continue;
    if (search === "" || line.text.toLowerCase().includes(search)) places.push(index);
  }
  return { filter, generation: log.generation, looked: log.count, places };
}

interface Grown {
  readonly generation: number;
  readonly count: number;
  lineAt(index: number): LogLine | undefined;
}

export interface ShownLog {
  readonly count: number;
  /** From a place among what is shown to the place in the log. */
  placeOf(index: number): number;
}

/** What a filter leaves of a log that grows. */
export function useFilteredLog(log: Grown, filter: LogFilter): ShownLog {
  const before = useRef<FilteredLog>(undefined);
  if (!isFiltering(filter)) return { count: log.count, placeOf: (index) => index };
  // A cache of a pure function: drawing twice or not at all changes nothing that anybody sees.
  const filtered = filterLog(before.current, filter, log);
  before.current = filtered;
  return { count: filtered.places.length, placeOf: (index) => filtered.places[index] ?? -1 };
}
