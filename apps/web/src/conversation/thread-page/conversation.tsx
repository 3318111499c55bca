"use client";

import { type ReactNode, useState } from "react";
import { Button } from "../../design/button";
import { Icon } from "../../design/icon";
import { Skeleton } from "../../design/skeleton";
import { InterruptCards } from "../../interrupts/interrupt-cards";
import { useDrawnFrom } from "../scroll/use-drawn-from";
import { useStickToBottom } from "../scroll/use-stick-to-bottom";
import { TurnView } from "../turns/turn-view";
import { useTurns } from "../turns/use-turns";
import styles from "./conversation.module.css";
import { EmptyThread } from "./empty-thread";
import { ThreadNews } from "./thread-news";
import { useIsAwaited } from "./use-is-awaited";

/** Everything that was said and done, on one line, the newest at the end. */
export function Conversation(): ReactNode {
  const turns = useTurns();
  const drawnFrom = useDrawnFrom(turns.length);
  const isAwaited = useIsAwaited();
  const [openedAt] = useState(() => Date.now());
  const { scroller, content, isAtEnd, jump } = useStickToBottom();
  return (
    <div className={styles.frame}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the page's one long text scrolls by keyboard */}
      <section ref={scroller} className={styles.scroller} aria-label="Conversation" tabIndex={0}>
        <div ref={content} className={styles.column} data-empty={turns.length === 0 && !isAwaited}>
          {turns.length > 0 ? (
            <ol>
              {turns.map((turn, at) => (
                <TurnView
                  key={turn.key}
                  turn={turn}
                  isLast={at === turns.length - 1}
                  openedAt={openedAt}
                  isDeferred={at < drawnFrom}
                />
              ))}
            </ol>
          ) : isAwaited ? (
            <Skeleton label="Loading the thread" lines={5} />
          ) : (
            <EmptyThread />
          )}
          <InterruptCards />
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
