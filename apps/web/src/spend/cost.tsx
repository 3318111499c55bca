import type { UsageView } from "@throughline/agent-client";
import type { ReactNode } from "react";

interface CostProps {
  readonly usage: Pick<UsageView, "costUsd" | "isComplete">;
  /** Said of a cost that is not complete. */
  readonly why?: string;
  readonly className?: string | undefined;
}

const OF_RUN = "A model call had no price when the run ended. The spend page has what is known by now.";

/** What something cost, with why where not all of it is known. */
export function Cost({ usage, why = OF_RUN, className }: CostProps): ReactNode {
  return (
    <span className={className} title={usage.isComplete ? undefined : why}>
      {costWords(usage)}
    </span>
  );
}

type Priced = Pick<UsageView, "costUsd" | "isComplete">;

/** Fractions of a cent are what single runs cost. */
export function usdWords(usd: number): string {
  return usd > 0 && usd < 0.01 ? `$${usd.toPrecision(2)}` : `$${usd.toFixed(2)}`;
}

/** Whether there is a price to tell, or will be. */
export function isPriced({ costUsd, isComplete }: Priced): boolean {
  return costUsd !== null || !isComplete;
}

export function costWords({ costUsd, isComplete }: Priced): string {
  if (isComplete) return costUsd === null ? "Not priced" : usdWords(costUsd);
  return costUsd === null ? "…" : `${usdWords(costUsd)}…`;
}

export function unpricedWords(count: number): string {
  return count === 1 ? "1 has no price yet" : `${count.toLocaleString("en")} have no price yet`;
}
