import type { ReactNode } from "react";

/** A line with a point on it: one log, and where you stand in it. */
export function Mark({ size = 28 }: { readonly size?: number }): ReactNode {
  return (
    <svg width={size} height={size} viewBox="0 0 28 28" role="img" aria-label="Throughline">
      <path d="M2 14h24" stroke="currentColor" strokeWidth="2" strokeLinecap="round" />
      <circle cx="17" cy="14" r="5" fill="var(--accent)" stroke="var(--paper)" strokeWidth="2" />
    </svg>
  );
}
