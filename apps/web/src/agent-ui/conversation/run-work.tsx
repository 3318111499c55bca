"use client";

import type { CallView, RecordedFrame } from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import type { Json } from "@throughline/ai-core";
import { type ReactNode, useCallback, useId, useState, useSyncExternalStore } from "react";
import { DisclosureRow } from "../primitives/disclosure";
import { Elapsed } from "../primitives/elapsed";
import { ProgressBar } from "../primitives/progress-bar";
import { activePath, type CallIndex, countWork, failedStep, isPassing } from "./call-index";
import { CallRow, EarlierCalls } from "./call-row";
import { type Progress, progressOf } from "./progress";
import styles from "./run-work.module.css";

interface WorkProps {
  readonly run: CallView;
  readonly index: CallIndex;
}

/** Summarizes the work of a run in one row, which expands to every step, down to model calls. */
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
  const reported = useReportedProgress(isRunning);
  const progress = path.map((call) => progressOf(call.progress)).findLast(Boolean) ?? reported;
  return (
    <div className={styles.work} data-quiet="true" data-running={isRunning}>
      <DisclosureRow
        isOpen={isOpen}
        onToggle={() => setOpen(!isOpen)}
        controls={id}
        className={styles.row}
        disabled={steps.length === 0 && run.earlier === undefined}
      >
        <span className={styles.words}>
          {isRunning ? runningText(path, progress?.words) : workText(run, drawn, index)}
        </span>
        {failed && <span className={styles.failed}>{failed.name} failed</span>}
        <span className={styles.time}>
          <Elapsed startedAt={run.startedAt} endedAt={run.endedAt} />
        </span>
        {usage > 0 && <span className={styles.time}>{usage.toLocaleString("en")} tokens</span>}
      </DisclosureRow>
      {progress?.share !== undefined && (
        <ProgressBar share={progress.share} label={progress.words} className={styles.progress} />
      )}
      <div id={id} hidden={!isOpen} className={styles.steps}>
        {isOpen && run.earlier !== undefined && <EarlierCalls count={run.earlier} />}
        {isOpen && drawn.map((step) => <CallRow key={step.callId} call={step} index={index} />)}
      </div>
    </div>
  );
}

function runningText(path: readonly CallView[], progress: string | undefined): string {
  if (progress !== undefined) return progress;
  const names = path.filter(({ kind }) => kind !== "model").map(({ name }) => name);
  return names.length === 0 ? "Working…" : names.join(" › ");
}

function workText(run: CallView, steps: readonly CallView[], index: CallIndex): string {
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

const nothing = () => undefined;
const noSubscription = () => () => {};

/** The latest progress that the active run reported in a custom event. */
function useReportedProgress(isRunning: boolean): Progress | undefined {
  const { events } = useThreadHandle();
  const read = useCallback(() => lastReported(events.getSnapshot()), [events]);
  const reported = useSyncExternalStore(
    isRunning ? events.subscribe : noSubscription,
    isRunning ? read : nothing,
    nothing,
  );
  return progressOf(reported);
}

/** The latest reported progress. Searches back to the start of the run at most. */
export function lastReported(frames: readonly RecordedFrame[]): Json | undefined {
  for (let at = frames.length - 1; at >= 0; at -= 1) {
    const event = frames[at]?.event;
    if (!event || event.type === "RUN_STARTED") return undefined;
    if (event.type === "CUSTOM" && !event.name.startsWith("throughline.") && progressOf(event.value))
      return event.value;
  }
  return undefined;
}
