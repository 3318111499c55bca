"use client";

import dynamic from "next/dynamic";
import { type ReactNode, useState } from "react";
import {
  isEdit,
  type Opening,
  ORIGIN_HINTS,
  originText,
  type RunOrigin,
} from "../../agent-ui/conversation/run-origin";
import { useThreadSession } from "../../agent-ui/conversation/thread-session";
import { Elapsed } from "../../agent-ui/primitives/elapsed";
import { EmptyState } from "../../agent-ui/primitives/empty-state";
import { Icon } from "../../agent-ui/primitives/icon";
import { PanelErrorState, Skeleton, type Status, StatusDot } from "../../agent-ui/primitives/status";
import { RelativeTime } from "../../agent-ui/primitives/time";
import type { Run } from "../../data/runs";
import { Cost, isPriced } from "../../spend/cost";
import { type RunFacts, useThreadRuns } from "./run-index";
import styles from "./runs-tab.module.css";
import { useReplayedRun } from "./shown-run";

/** Loaded lazily: it projects the log as the service does, with code that nothing else on the page needs. */
const RunReplay = dynamic(() => import("./run-replay").then((module) => module.RunReplay), {
  ssr: false,
});

/** Lists every run of the thread, newest first; one of them can be replayed. */
export function RunsTab(): ReactNode {
  const { value: runs, problem, isLoading, refresh, index } = useThreadRuns();
  const { isOwnRun } = useThreadSession();
  const [openedAt] = useState(() => Date.now());
  const shown = useReplayedRun();
  const run = runs?.find(({ runId }) => runId === shown.runId);
  if (run) {
    const entries = index.byRun.get(run.runId)?.entries ?? 0;
    return <RunReplay key={run.runId} run={run} entries={entries} onBack={shown.hide} />;
  }
  if (isLoading) return <Skeleton label="Loading runs" lines={4} className={styles.loading ?? ""} />;
  if (problem && !runs) return <PanelErrorState message={problem.message} onRetry={refresh} />;
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

/** The service's model name for a run whose row it can't read. */
const UNKNOWN = "unknown";

interface RunItemProps {
  readonly run: Run;
  readonly facts: RunFacts | undefined;
  readonly starter: RunOrigin;
  readonly onReplay: () => void;
}

function RunItem({ run, facts, starter, onReplay }: RunItemProps): ReactNode {
  const isStored = facts !== undefined && facts.entries > 0;
  const isReconciling = run.work === "reconcile" && !isEdit(run.startedBy);
  return (
    <li className={styles.item}>
      <button
        type="button"
        className={styles.run}
        disabled={!isStored}
        title={isStored ? "Replay this run" : "The log no longer has this run"}
        onClick={onReplay}
      >
        <span className={styles.dot}>
          <StatusDot status={runDot(run.status)} />
        </span>
        <span className={styles.words}>
          <span className={styles.head}>
            <span title={ORIGIN_HINTS[starter]}>
              {isReconciling ? "Checkpoint" : originText(starter, openingOf(run), run.startedBy.person)}
            </span>
            <RelativeTime at={run.createdAt} className={styles.quiet ?? ""} />
          </span>
          {facts?.asked !== undefined && <span className={styles.asked}>{facts.asked}</span>}
          {facts?.error !== undefined && <span className={styles.error}>{facts.error}</span>}
          <span className={styles.facts}>
            <span>{statusText(run, isReconciling)}</span>
            <Elapsed startedAt={Date.parse(run.createdAt) / 1_000} endedAt={endOf(run)} />
            {facts?.usage && <span>{formatTokens(facts.usage.totalTokens)}</span>}
            <RunCost run={run} facts={facts} />
            {run.work === "graph" && run.model !== null && run.model !== UNKNOWN && (
              <span className={styles.model} title="Model">
                {run.model}
              </span>
            )}
            {run.attempt > 0 && <span>attempt {run.attempt + 1}</span>}
          </span>
        </span>
        {isStored && (
          <span className={styles.open}>
            <Icon name="play" size={12} />
          </span>
        )}
      </button>
    </li>
  );
}

function statusText({ startedBy, status }: Run, isReconciling: boolean): string {
  if (isReconciling) return "Reconciled with the checkpoint";
  return isEdit(startedBy) && status !== "error" ? "Saved" : RUN_STATUS_LABELS[status];
}

function openingOf({ startedBy }: Run): Opening {
  const { command } = startedBy;
  if (isEdit(startedBy)) return { kind: "edited" };
  return command === undefined ? { kind: "message" } : { kind: "command", command };
}

/** The ledger's current cost, else the one that the log recorded at the run's end. */
function RunCost({ run: { cost }, facts }: Pick<RunItemProps, "run" | "facts">): ReactNode {
  if (cost) return <Cost usage={{ costUsd: cost.costUsd, isComplete: cost.unpriced === 0 }} />;
  return facts?.usage && isPriced(facts.usage) ? <Cost usage={facts.usage} /> : null;
}

function endOf({ endedAt }: Run): number | null {
  return endedAt === null ? null : Date.parse(endedAt) / 1_000;
}

const RUN_STATUS_LABELS: Readonly<Record<Run["status"], string>> = {
  queued: "Waiting its turn",
  running: "Running",
  success: "Done",
  interrupted: "Asked a question",
  cancelled: "Stopped",
  error: "Failed",
  lost: "Lost",
};

function runDot(status: Run["status"]): Status {
  switch (status) {
    case "running":
      return "running";
    case "queued":
      return "scheduled";
    case "interrupted":
      return "waiting";
    case "error":
    case "lost":
      return "error";
    case "success":
    case "cancelled":
      return "idle";
  }
}

/** Origin of a run. A client's run from before the page was opened counts as your own: its tab is gone. */
export function starterOf(run: Run, isOwn: boolean, openedAt: number): RunOrigin {
  if (run.startedBy.kind === "cron") return "schedule";
  if (run.startedBy.kind === "foreign") return "outsider";
  return isOwn || Date.parse(run.createdAt) < openedAt ? "you" : "another-tab";
}

export function formatTokens(count: number): string {
  return `${new Intl.NumberFormat("en").format(count)} ${count === 1 ? "token" : "tokens"}`;
}
