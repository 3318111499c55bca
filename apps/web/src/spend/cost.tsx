import type { RunUsage } from "@throughline/agent-client";
import type { ReactNode } from "react";

interface CostProps {
  readonly usage: Pick<RunUsage, "costUsd" | "isComplete">;
  /** Tooltip of a cost that is not complete. */
  readonly why?: string;
  readonly className?: string | undefined;
}

const OF_RUN = "A model call had no price when the run ended. The spend page has what is known by now.";

/** A cost, with the reason where it is not complete. */
export function Cost({ usage, why = OF_RUN, className }: CostProps): ReactNode {
  return (
    <span className={className} title={usage.isComplete ? undefined : why}>
      {formatCost(usage)}
    </span>
  );
}

type Priced = Pick<RunUsage, "costUsd" | "isComplete">;

/** Formats US dollars. Single runs cost fractions of a cent. */
export function formatUsd(usd: number): string {
  return usd > 0 && usd < 0.01 ? `$${usd.toPrecision(2)}` : `$${usd.toFixed(2)}`;
}

/** Whether a price is known, or will be. */
export function isPriced({ costUsd, isComplete }: Priced): boolean {
  return costUsd !== null || !isComplete;
}

export function formatCost({ costUsd, isComplete }: Priced): string {
  if (isComplete) return costUsd === null ? "Not priced" : formatUsd(costUsd);
  return costUsd === null ? "…" : `${formatUsd(costUsd)}…`;
}

export function unpricedText(count: number): string {
  return count === 1 ? "1 has no price yet" : `${count.toLocaleString("en")} have no price yet`;
}
