import type { UsageView } from "@throughline/agent-client";
import type { ReactNode } from "react";
import { costWords } from "./cost-words";

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
