"use client";

import { useUsage } from "@throughline/agent-react";
import type { ReactNode } from "react";
import { Cost, isPriced } from "../spend/cost";
import threadHeaderStyles from "./thread-header.module.css";

/** Tokens and cost of the last run, in few characters. */
export function UsageMeter(): ReactNode {
  const usage = useUsage();
  // A run that was stopped early, or called no model, has no usage.
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
