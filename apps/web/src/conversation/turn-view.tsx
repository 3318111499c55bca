"use client";

import type { CallView } from "@throughline/agent-client";
import { memo, type ReactNode } from "react";
import { AssistantMessage } from "./assistant-message";
import type { CallIndex } from "./call-index";
import { RunCaption } from "./run-caption";
import { RunEnd } from "./run-end";
import styles from "./turn-view.module.css";
import type { Turn } from "./turns";
import { useRunCalls } from "./use-run-calls";
import { UserMessage } from "./user-message";
import { Work } from "./work";

interface TurnViewProps {
  readonly turn: Turn;
  readonly isLast: boolean;
  readonly openedAt: number;
}

/** A point on the line, and what hangs on it. */
export const TurnView = memo(function TurnView({ turn, isLast, openedAt }: TurnViewProps): ReactNode {
  const index = useRunCalls(turn.runId);
  const run = turn.runId === undefined ? undefined : index.runById.get(turn.runId);
  return (
    <li
      className={styles.turn}
      data-status={run?.status === "interrupted" && !isLast ? "answered" : run?.status}
      data-last={isLast}
    >
      <span className={styles.point} aria-hidden="true" />
      <div className={styles.body}>
        <RunCaption run={run} turn={turn} openedAt={openedAt} />
        {turn.userId !== undefined && <UserMessage id={turn.userId} />}
        {turn.messageIds.map((id) => (
          <AssistantMessage key={id} id={id} />
        ))}
        {run && hasWork(run, index) && <Work run={run} index={index} />}
        {run && <RunEnd run={run} isLast={isLast} userId={turn.userId} />}
      </div>
    </li>
  );
});

/** Of a run that ended before it did anything, how it ended says all. */
function hasWork(run: CallView, index: CallIndex): boolean {
  return run.status === "running" || run.status === "ok" || index.childrenOf(run).length > 0;
}
