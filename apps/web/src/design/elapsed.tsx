"use client";

import type { ReactNode } from "react";
import { formatDuration } from "./format-duration";
import { useNow } from "./use-now";

interface ElapsedProps {
  /** Seconds since the Unix epoch. */
  readonly startedAt: number;
  readonly endedAt: number | null;
}

/** How long it took, or has taken so far. Hidden from screen readers, which would never stop reading it. */
export function Elapsed({ startedAt, endedAt }: ElapsedProps): ReactNode {
  const now = useNow(endedAt === null);
  // The start is not known.
  if (startedAt === 0) return null;
  const seconds = endedAt === null ? Math.floor(now / 1_000 - startedAt) : endedAt - startedAt;
  const text = formatDuration(seconds);
  return (
    <span aria-hidden={endedAt === null}>
      {endedAt === null ? text.replace("<0.1", "0").replace(".0 s", " s") : text}
    </span>
  );
}
