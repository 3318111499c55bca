"use client";

import { useUsage } from "@throughline/agent-react";
import type { ReactNode } from "react";
import { Cost, isPriced } from "../spend/cost";
import threadHeaderStyles from "./thread-header.module.css";

/** What the last run cost, in as few characters as can be. */
export function UsageMeter(): ReactNode {
  const usage = useUsage();
  // A run that was stopped early, or asked no model, has nothing to tell.
  if (!usage || usage.totalTokens === 0) return null;
  const { inputTokens, outputTokens, totalTokens, modelCalls } = usage;
  const detail = `${inputTokens.toLocaleString("en")} tokens in, ${outputTokens.toLocaleString("en")} out, ${modelCalls} model calls`;
  return (
    <span className={threadHeaderStyles.usage} title={detail}>
      Last run {compact.format(totalTokens)} tokens
      {isPriced(usage) && (
        <>
          {" · "}
          <Cost usage={usage} />
        </>
      )}
    </span>
  );
}

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
