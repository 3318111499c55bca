"use client";

import type { CallView } from "@throughline/agent-client";
import { type ReactNode, useId, useState } from "react";
import { Elapsed } from "../../design/elapsed";
import { FoldRow } from "../../design/fold-row";
import { ProgressBar } from "../../design/progress-bar";
import { CallBlock, EarlierCalls } from "./call-block";
import { activePath, type CallIndex, countWork, failedStep, isPassing } from "./call-index";
import { progressOf } from "./progress";
import { useToldProgress } from "./use-told-progress";
import styles from "./work.module.css";

interface WorkProps {
  readonly run: CallView;
  readonly index: CallIndex;
}

/** What a run did, or is doing right now, in one line; behind it every step, down to the model's calls. */
export function Work({ run, index }: WorkProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const isRunning = run.status === "running";
  const steps = index.childrenOf(run);
  const shown = steps.filter((step) => !isPassing(step, index));
  const drawn = shown.length > 0 ? shown : steps;
  const usage = usageBelow(run, index);
  const path = isRunning ? activePath(run, index) : [];
  const failed = failedStep(run, index);
  const told = useToldProgress(isRunning);
  const progress = path.map((call) => progressOf(call.progress)).findLast(Boolean) ?? told;
  return (
    <div className={styles.work} data-quiet="true" data-running={isRunning}>
      <FoldRow
        isOpen={isOpen}
        onToggle={() => setOpen(!isOpen)}
        controls={id}
        className={styles.row}
        disabled={steps.length === 0 && run.earlier === undefined}
      >
        <span className={styles.words}>
          {isRunning ? runningWords(path, progress?.words) : workWords(run, drawn, index)}
        </span>
        {failed && <span className={styles.failed}>{failed.name} failed</span>}
        <span className={styles.time}>
          <Elapsed startedAt={run.startedAt} endedAt={run.endedAt} />
        </span>
        {usage > 0 && <span className={styles.time}>{usage.toLocaleString("en")} tokens</span>}
      </FoldRow>
      {progress?.share !== undefined && (
        <ProgressBar share={progress.share} label={progress.words} className={styles.progress} />
      )}
      <div id={id} hidden={!isOpen} className={styles.steps}>
        {isOpen && run.earlier !== undefined && <EarlierCalls count={run.earlier} />}
        {isOpen && drawn.map((step) => <CallBlock key={step.callId} call={step} index={index} />)}
      </div>
    </div>
  );
}

function runningWords(path: readonly CallView[], progress: string | undefined): string {
  if (progress !== undefined) return progress;
  const names = path.filter(({ kind }) => kind !== "model").map(({ name }) => name);
  return names.length === 0 ? "Working…" : names.join(" › ");
}

function workWords(run: CallView, steps: readonly CallView[], index: CallIndex): string {
  const { subgraph, tool, model } = countWork(run, index);
  if (subgraph + tool + model === 0) return steps.map(({ name }) => name).join(", ") || "Nothing to do";
  const parts = [counted(subgraph, "subagent"), counted(tool, "tool call"), counted(model, "model call")];
  return parts.filter(Boolean).join(", ");
}

function counted(count: number, word: string): string {
  return count === 0 ? "" : `${count} ${word}${count === 1 ? "" : "s"}`;
}

function usageBelow(call: CallView, index: CallIndex): number {
  const own = call.usage?.total_tokens ?? 0;
  return index.childrenOf(call).reduce((sum, child) => sum + usageBelow(child, index), own);
}
