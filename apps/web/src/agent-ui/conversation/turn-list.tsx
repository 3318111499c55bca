"use client";

import type { CallView } from "@throughline/agent-client";
import { memo, type ReactNode, useRef } from "react";
import { turnAnchor } from "./anchors";
import { AssistantMessage } from "./assistant-message";
import { type CallIndex, useRunCalls } from "./call-index";
import { useDrawnFrom, useIsSeen, useLinkedTurn } from "./progressive-rendering";
import { RunCaption } from "./run-caption";
import { RunEnd } from "./run-end";
import { Work } from "./run-work";
import styles from "./turn-list.module.css";
import type { Turn } from "./turns";
import { UserMessage } from "./user-message";

interface TurnListProps {
  readonly turns: readonly Turn[];
  readonly openedAt: number;
  /** All are drawn at once, to be searched. */
  readonly isSearched: boolean;
  /** The address names a turn, which is brought into sight. */
  readonly onLinked: () => void;
}

/** The turns on their line, the newest at the end. */
export function TurnList({ turns, openedAt, isSearched, onLinked }: TurnListProps): ReactNode {
  const drawnFrom = useDrawnFrom(turns.length);
  const linked = useLinkedTurn(turns, onLinked);
  return (
    <ol>
      {turns.map((turn, at) => (
        <TurnView
          key={turn.key}
          turn={turn}
          isLast={at === turns.length - 1}
          openedAt={openedAt}
          isDeferred={at < drawnFrom && !isSearched}
          isLinked={linked === turnAnchor(turn.key)}
        />
      ))}
    </ol>
  );
}

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
const TurnView = memo(function TurnView({
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
