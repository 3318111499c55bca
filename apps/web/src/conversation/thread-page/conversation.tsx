"use client";

import dynamic from "next/dynamic";
import { type ReactNode, useEffect, useState } from "react";
import { Button } from "../../design/button";
import { Icon } from "../../design/icon";
import { Skeleton } from "../../design/skeleton";
import { OpenQuestions } from "../../interrupts/open-questions";
import { useDrawnFrom } from "../scroll/use-drawn-from";
import { useLinkedTurn } from "../scroll/use-linked-turn";
import { useStickToBottom } from "../scroll/use-stick-to-bottom";
import { turnAnchor } from "../turns/turn-anchor";
import { TurnView } from "../turns/turn-view";
import { useTurns } from "../turns/use-turns";
import styles from "./conversation.module.css";
import { EmptyThread } from "./empty-thread";
import { ForkOrigin } from "./fork-origin";
import { ThreadNews } from "./thread-news";
import { useIsAwaited } from "./use-is-awaited";

const FindBar = dynamic(() => import("../find/find-bar").then((module) => module.FindBar), { ssr: false });

interface ConversationProps {
  /** Somebody looks for words in it. */
  readonly isFinding: boolean;
  readonly onFound: () => void;
}

/** Everything that was said and done, on one line, the newest at the end. */
export function Conversation({ isFinding, onFound }: ConversationProps): ReactNode {
  const turns = useTurns();
  const drawnFrom = useDrawnFrom(turns.length);
  const isAwaited = useIsAwaited();
  const [openedAt] = useState(() => Date.now());
  const { scroller, content, isAtEnd, jump, release } = useStickToBottom();
  const linked = useLinkedTurn(turns, release);

  // What was looked for stays in sight while more comes.
  useEffect(() => {
    if (isFinding) release();
  }, [isFinding, release]);
  return (
    <div className={styles.frame}>
      {isFinding && <FindBar content={content} onClose={onFound} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the page's one long text scrolls by keyboard */}
      <section ref={scroller} className={styles.scroller} aria-label="Conversation" tabIndex={0}>
        <div ref={content} className={styles.column} data-empty={turns.length === 0 && !isAwaited}>
          <ForkOrigin />
          {turns.length > 0 ? (
            <ol>
              {turns.map((turn, at) => (
                <TurnView
                  key={turn.key}
                  turn={turn}
                  isLast={at === turns.length - 1}
                  openedAt={openedAt}
                  isDeferred={at < drawnFrom && !isFinding}
                  isLinked={linked === turnAnchor(turn.key)}
                />
              ))}
            </ol>
          ) : isAwaited ? (
            <Skeleton label="Loading the thread" lines={5} />
          ) : (
            <EmptyThread />
          )}
          <OpenQuestions />
        </div>
      </section>
      {!isAtEnd && (
        <Button className={styles.jump} onClick={jump}>
          <Icon name="arrowDown" />
          Jump to latest
        </Button>
      )}
      <ThreadNews />
    </div>
  );
}
