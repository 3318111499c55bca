"use client";

import type { ReactNode } from "react";
import {
  isEdit,
  type Opening,
  ORIGIN_HINTS,
  originWords,
  type RunOrigin,
} from "../../conversation/turns/run-origin";
import { Elapsed } from "../../design/elapsed";
import { Icon } from "../../design/icon";
import { RelativeTime } from "../../design/relative-time";
import { StatusDot } from "../../design/status-dot";
import type { Run } from "../../service/queries/runs";
import { Cost } from "../../usage/cost";
import { isPriced } from "../../usage/cost-words";
import type { RunFacts } from "./index-runs";
import styles from "./run-item.module.css";
import { RUN_STATUS_WORDS, runDot, tokenWords } from "./run-words";

/** What the service calls the model of a run whose row it can't read. */
const UNKNOWN = "unknown";

interface RunItemProps {
  readonly run: Run;
  readonly facts: RunFacts | undefined;
  readonly starter: RunOrigin;
  readonly onReplay: () => void;
}

export function RunItem({ run, facts, starter, onReplay }: RunItemProps): ReactNode {
  const isKept = facts !== undefined && facts.entries > 0;
  const isReconciling = run.work === "reconcile" && !isEdit(run.startedBy);
  return (
    <li className={styles.item}>
      <button
        type="button"
        className={styles.run}
        disabled={!isKept}
        title={isKept ? "Replay this run" : "The log no longer has this run"}
        onClick={onReplay}
      >
        <span className={styles.dot}>
          <StatusDot status={runDot(run.status)} />
        </span>
        <span className={styles.words}>
          <span className={styles.head}>
            <span title={ORIGIN_HINTS[starter]}>
              {isReconciling ? "Checkpoint" : originWords(starter, openingOf(run), run.startedBy.person)}
            </span>
            <RelativeTime at={run.createdAt} className={styles.quiet ?? ""} />
          </span>
          {facts?.asked !== undefined && <span className={styles.asked}>{facts.asked}</span>}
          {facts?.error !== undefined && <span className={styles.error}>{facts.error}</span>}
          <span className={styles.facts}>
            <span>{statusWords(run, isReconciling)}</span>
            <Elapsed startedAt={Date.parse(run.createdAt) / 1_000} endedAt={endOf(run)} />
            {facts?.usage && <span>{tokenWords(facts.usage.totalTokens)}</span>}
            <RunCost run={run} facts={facts} />
            {run.work === "graph" && run.model !== null && run.model !== UNKNOWN && (
              <span className={styles.model} title="Model">
                {run.model}
              </span>
            )}
            {run.attempt > 0 && <span>attempt {run.attempt + 1}</span>}
          </span>
        </span>
        {isKept && (
          <span className={styles.open}>
            <Icon name="play" size={12} />
          </span>
        )}
      </button>
    </li>
  );
}

function statusWords({ startedBy, status }: Run, isReconciling: boolean): string {
  if (isReconciling) return "Reconciled with the checkpoint";
  return isEdit(startedBy) && status !== "error" ? "Saved" : RUN_STATUS_WORDS[status];
}

function openingOf({ startedBy }: Run): Opening {
  const { command } = startedBy;
  if (isEdit(startedBy)) return { kind: "edited" };
  return command === undefined ? { kind: "message" } : { kind: "command", command };
}

/** What the ledger says by now, else what the log said when the run ended. */
function RunCost({ run: { cost }, facts }: Pick<RunItemProps, "run" | "facts">): ReactNode {
  if (cost) return <Cost usage={{ costUsd: cost.costUsd, isComplete: cost.unpriced === 0 }} />;
  return facts?.usage && isPriced(facts.usage) ? <Cost usage={facts.usage} /> : null;
}

function endOf({ endedAt }: Run): number | null {
  return endedAt === null ? null : Date.parse(endedAt) / 1_000;
}
