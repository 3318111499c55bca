"use client";

import type { CallView } from "@throughline/agent-client";
import { memo, type ReactNode, useRef } from "react";
import { turnAnchor } from "./anchors";
import { AssistantMessage } from "./assistant-message";
import { type CallIndex, useRunCalls } from "./call-index";
import { useIsSeen, useLinkedTurn, useProgressiveTurns } from "./progressive-rendering";
import { RunCaption } from "./run-caption";
import { RunEnd } from "./run-end";
import { Work } from "./run-work";
import styles from "./turn-list.module.css";
import type { Turn } from "./turns";
import { UserMessage } from "./user-message";

interface TurnListProps {
  readonly turns: readonly Turn[];
  readonly openedAt: number;
  /** Renders all turns at once, so that they can be searched. */
  readonly isSearched: boolean;
  /** Called before the list scrolls to the turn that the URL names. */
  readonly onLinked: () => void;
}

/** The list of turns, the newest at the end. */
export function TurnList({ turns, openedAt, isSearched, onLinked }: TurnListProps): ReactNode {
  const drawnFrom = useProgressiveTurns(turns.length);
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
  /** Not rendered yet: its space is reserved, and it renders when it becomes visible. */
  readonly isDeferred: boolean;
  /** The URL names it. */
  readonly isLinked: boolean;
}

/** One turn, with a point on the timeline. */
const TurnView = memo(function TurnView({
  turn,
  isLast,
  openedAt,
  isDeferred,
  isLinked,
}: TurnViewProps): ReactNode {
  const anchor = turnAnchor(turn.key);
  const item = useRef<HTMLLIElement>(null);
  const isDrawn = useIsSeen(item, isDeferred) || !isDeferred;
  const index = useRunCalls(isDrawn ? turn.runId : undefined);
  const { run } = index;
  return (
    // The element stays the same: content added to it off screen costs neither style nor layout.
    <li
      ref={item}
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

/** Whether a model streamed text that is in no checkpoint, and so not in the conversation. */
function isCutShort({ status }: CallView, { messageIds }: Turn, { calls }: CallIndex): boolean {
  if (status !== "cancelled" && status !== "error" && status !== "lost") return false;
  return calls.some(({ kind, messageId = "" }) => kind === "model" && !messageIds.includes(messageId));
}

/** Whether the work of a run is shown. A run that ended before its first step shows only its end. */
function hasWork(run: CallView, index: CallIndex): boolean {
  return run.status === "running" || run.status === "ok" || index.childrenOf(run).length > 0;
}
