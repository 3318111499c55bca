import type { UsageView } from "@throughline/agent-client";
import type { ReactNode } from "react";
import { costWords } from "./cost-words";

interface CostProps {
  readonly usage: Pick<UsageView, "costUsd" | "isComplete">;
  readonly className?: string | undefined;
}

/** What something cost, with why where not all of it is known. */
export function Cost({ usage, className }: CostProps): ReactNode {
  const why = usage.isComplete
    ? undefined
    : "A model call had no price when the run ended. The usage page has what is known by now.";
  return (
    <span className={className} title={why}>
      {costWords(usage)}
    </span>
  );
}
