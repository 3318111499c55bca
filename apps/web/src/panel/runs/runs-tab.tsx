"use client";

import dynamic from "next/dynamic";
import { type ReactNode, useState } from "react";
import { useSteering } from "../../conversation/steering/steering";
import { EmptyState } from "../../design/empty-state";
import { Skeleton } from "../../design/skeleton";
import { PanelProblem } from "../panel-problem";
import { useShownRun } from "../shown-run";
import { RunItem } from "./run-item";
import { starterOf } from "./run-words";
import styles from "./runs-tab.module.css";
import { useThreadRuns } from "./use-thread-runs";

/** Reads the log as the service does, which takes code that nothing else on the page needs. */
const RunReplay = dynamic(() => import("../replay/run-replay").then((module) => module.RunReplay), {
  ssr: false,
});

/** Every run of the thread on its line, newest first; one of them can be seen again. */
export function RunsTab(): ReactNode {
  const { value: runs, problem, isLoading, refresh, index } = useThreadRuns();
  const { isOwnRun } = useSteering();
  const [openedAt] = useState(() => Date.now());
  const shown = useShownRun();
  const run = runs?.find(({ runId }) => runId === shown.runId);
  if (run) {
    const entries = index.byRun.get(run.runId)?.entries ?? 0;
    return <RunReplay key={run.runId} run={run} entries={entries} onBack={shown.hide} />;
  }
  if (isLoading) return <Skeleton label="Loading runs" lines={4} className={styles.loading ?? ""} />;
  if (problem && !runs) return <PanelProblem message={problem.message} onRetry={refresh} />;
  if (!runs || runs.length === 0) {
    return <EmptyState title="No run yet">Send a message, and the run it starts shows here.</EmptyState>;
  }
  return (
    <ol className={styles.runs} aria-label="Runs, newest first">
      {runs.map((one) => (
        <RunItem
          key={one.runId}
          run={one}
          facts={index.byRun.get(one.runId)}
          starter={starterOf(one, isOwnRun(one.runId), openedAt)}
          onReplay={() => shown.show(one.runId)}
        />
      ))}
    </ol>
  );
}
