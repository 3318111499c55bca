"use client";

import { useRef } from "react";
import { type FilteredLog, filterLog, isFiltering, type LogFilter, type LogLine } from "./filter-log";

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
