"use client";

import type { RunUsage } from "@throughline/agent-client";
import type { ReactNode } from "react";
import { EmptyState } from "../../agent-ui/primitives/empty-state";
import { PanelErrorState, Skeleton } from "../../agent-ui/primitives/status";
import { RelativeTime } from "../../agent-ui/primitives/time";
import { PanelSection } from "../../shell/page-frame";
import { Cost, isPriced } from "../../spend/cost";
import { sumUsage, useThreadRuns } from "./run-index";
import styles from "./usage-tab.module.css";

const number = new Intl.NumberFormat("en");

/** Tokens and cost of the thread and of each run. */
export function UsageTab(): ReactNode {
  const { value: runs, problem, isLoading, refresh, index } = useThreadRuns();
  if (isLoading) return <Skeleton label="Loading usage" lines={4} className={styles.loading ?? ""} />;
  if (problem && !runs) return <PanelErrorState message={problem.message} onRetry={refresh} />;
  const used = (runs ?? []).flatMap((run) => {
    const usage = index.byRun.get(run.runId)?.usage;
    return usage ? [{ run, usage }] : [];
  });
  if (used.length === 0) {
    return (
      <EmptyState title="Nothing used yet">
        Tokens and cost are counted when a run ends. Runs that asked no model cost nothing.
      </EmptyState>
    );
  }
  const sum = sumUsage(used.map(({ usage }) => usage));
  const most = Math.max(1, ...used.map(({ usage }) => usage.totalTokens));
  return (
    <>
      <PanelSection title="This thread" note={used.length === 1 ? "1 run" : `${used.length} runs`}>
        <Totals usage={sum} />
        {!isPriced(sum) && (
          <p className={styles.note}>
            A cost shows where the service knows every model's price, as through LiteLLM.
          </p>
        )}
      </PanelSection>
      <PanelSection title="By run" note="tokens">
        <ol className={styles.runs}>
          {used.map(({ run, usage }) => (
            <li key={run.runId} className={styles.run}>
              <RelativeTime at={run.createdAt} className={styles.time ?? ""} />
              <span className={styles.bar}>
                <span style={{ width: `${(100 * usage.totalTokens) / most}%` }} />
              </span>
              <span className={styles.tokens} title={`${usage.inputTokens} in, ${usage.outputTokens} out`}>
                {number.format(usage.totalTokens)}
              </span>
              {isPriced(usage) && <Cost usage={usage} className={styles.cost} />}
            </li>
          ))}
        </ol>
      </PanelSection>
    </>
  );
}

function Totals({ usage }: { readonly usage: RunUsage }): ReactNode {
  return (
    <dl className={styles.totals}>
      <Total label="Tokens" value={number.format(usage.totalTokens)} />
      <Total label="Cost" value={<Cost usage={usage} />} />
      <Total label="In" value={number.format(usage.inputTokens)} />
      <Total label="Out" value={number.format(usage.outputTokens)} />
      <Total label="Model calls" value={number.format(usage.modelCalls)} />
    </dl>
  );
}

function Total({ label, value }: { readonly label: string; readonly value: ReactNode }): ReactNode {
  return (
    <div className={styles.total}>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}
