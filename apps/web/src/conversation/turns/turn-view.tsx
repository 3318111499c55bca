"use client";

import type { CallView } from "@throughline/agent-client";
import { memo, type ReactNode, useRef } from "react";
import type { CallIndex } from "../calls/call-index";
import { useRunCalls } from "../calls/use-run-calls";
import { Work } from "../calls/work";
import { AssistantMessage } from "../messages/assistant-message";
import { UserMessage } from "../messages/user-message";
import { useIsSeen } from "../scroll/use-is-seen";
import { RunCaption } from "./run-caption";
import { RunEnd } from "./run-end";
import { turnAnchor } from "./turn-anchor";
import styles from "./turn-view.module.css";
import type { Turn } from "./turns";

interface TurnViewProps {
  readonly turn: Turn;
  readonly isLast: boolean;
  readonly openedAt: number;
  /** Its turn to be drawn has not come yet: its place is kept, and it is drawn when somebody looks at it. */
  readonly isDeferred: boolean;
  /** The page was opened at it. */
  readonly isLinked: boolean;
}

/** A point on the line, and what hangs on it. */
export const TurnView = memo(function TurnView({
  turn,
  isLast,
  openedAt,
  isDeferred,
  isLinked,
}: TurnViewProps): ReactNode {
  const anchor = turnAnchor(turn.key);
  const place = useRef<HTMLLIElement>(null);
  const isDrawn = useIsSeen(place, isDeferred) || !isDeferred;
  const index = useRunCalls(isDrawn ? turn.runId : undefined);
  const { run } = index;
  return (
    // The same element all along: out of sight, what is put into it then costs neither style nor layout.
    <li
      ref={place}
      id={anchor}
      className={styles.turn}
      data-status={run?.status === "interrupted" && !isLast ? "answered" : run?.status}
      data-last={isLast}
      data-linked={isLinked}
      data-deferred={!isDrawn}
    >
      {isDrawn && (
        <>
          <span className={styles.point} aria-hidden="true" />
          <div className={styles.body}>
            <RunCaption run={run} turn={turn} openedAt={openedAt} />
            {turn.userId !== undefined && <UserMessage id={turn.userId} />}
            {turn.messageIds.map((id) => (
              <AssistantMessage key={id} id={id} anchor={anchor} />
            ))}
            {run && hasWork(run, index) && <Work run={run} index={index} />}
            {run && (
              <RunEnd run={run} index={index} isLast={isLast} isCutShort={isCutShort(run, turn, index)} />
            )}
          </div>
        </>
      )}
    </li>
  );
});

/** What a model said and no checkpoint holds is no part of the conversation either. */
function isCutShort({ status }: CallView, { messageIds }: Turn, { calls }: CallIndex): boolean {
  if (status !== "cancelled" && status !== "error" && status !== "lost") return false;
  return calls.some(({ kind, messageId = "" }) => kind === "model" && !messageIds.includes(messageId));
}

/** Of a run that ended before it did anything, how it ended says all. */
function hasWork(run: CallView, index: CallIndex): boolean {
  return run.status === "running" || run.status === "ok" || index.childrenOf(run).length > 0;
}
