"use client";

import dynamic from "next/dynamic";
import { type ReactNode, useEffect, useState } from "react";
import { Button } from "../../design/button";
import { Icon } from "../../design/icon";
import { Skeleton } from "../../design/skeleton";
import { OpenQuestions } from "../../interrupts/open-questions";
import { useStickToBottom } from "../scroll/use-stick-to-bottom";
import { useTurns } from "../turns/use-turns";
import { loadTurns } from "../turns/warm-turns";
import styles from "./conversation.module.css";
import { ForkOrigin } from "./fork-origin";
import { ThreadNews } from "./thread-news";
import { useIsAwaited } from "./use-is-awaited";

/** It waits for the list of agents in any case. */
const EmptyThread = dynamic(() => import("./empty-thread").then((module) => module.EmptyThread), {
  ssr: false,
});
const TurnList = dynamic(() => loadTurns().then((module) => module.TurnList), {
  ssr: false,
  loading: () => <Skeleton label="Loading the thread" lines={5} />,
});
const FindBar = dynamic(() => import("../find/find-bar").then((module) => module.FindBar), { ssr: false });

interface ConversationProps {
  /** Somebody looks for words in it. */
  readonly isFinding: boolean;
  readonly onFound: () => void;
}

/** Everything that was said and done, on one line, the newest at the end. */
export function Conversation({ isFinding, onFound }: ConversationProps): ReactNode {
  const turns = useTurns();
  const isAwaited = useIsAwaited();
  const [openedAt] = useState(() => Date.now());
  const { scroller, content, isAtEnd, jump, release } = useStickToBottom();

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
            <TurnList turns={turns} openedAt={openedAt} isSearched={isFinding} onLinked={release} />
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
