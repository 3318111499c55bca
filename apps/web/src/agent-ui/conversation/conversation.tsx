"use client";

import type { ThreadSnapshot } from "@throughline/agent-client";
import { useThread } from "@throughline/agent-react";
import dynamic from "next/dynamic";
import { type ReactNode, useEffect, useState } from "react";
import { ForkOrigin } from "../../thread/fork-origin";
import { useIsLoading } from "../../thread/thread-title";
import { OpenInterrupts } from "../interrupts/open-interrupts";
import { Button } from "../primitives/button";
import { Icon } from "../primitives/icon";
import { Skeleton } from "../primitives/status";
import styles from "./conversation.module.css";
import { loadTurns } from "./preload-turns";
import { useTurns } from "./turns";
import { useStickToBottom } from "./use-stick-to-bottom";

/** Loaded lazily: it waits for the list of agents in any case. */
const EmptyThread = dynamic(() => import("../../thread/empty-thread").then((module) => module.EmptyThread), {
  ssr: false,
});
const TurnList = dynamic(() => loadTurns().then((module) => module.TurnList), {
  ssr: false,
  loading: () => <Skeleton label="Loading the thread" lines={5} />,
});
const FindBar = dynamic(() => import("../../thread/find-in-thread").then((module) => module.FindBar), {
  ssr: false,
});

interface ConversationProps {
  /** The find bar is open. */
  readonly isFinding: boolean;
  readonly onFound: () => void;
}

/** The turns of a thread, the newest at the end. */
export function Conversation({ isFinding, onFound }: ConversationProps): ReactNode {
  const turns = useTurns();
  const isAwaited = useIsLoading();
  const [openedAt] = useState(() => Date.now());
  const { scroller, content, isAtEnd, jump, release } = useStickToBottom();

  // The search results stay in view while more text arrives.
  useEffect(() => {
    if (isFinding) release();
  }, [isFinding, release]);
  return (
    <div className={styles.frame}>
      {isFinding && <FindBar content={content} onClose={onFound} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the conversation scrolls by keyboard */}
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
          <OpenInterrupts />
        </div>
      </section>
      {!isAtEnd && (
        <Button className={styles.jump} onClick={jump}>
          <Icon name="arrowDown" />
          Jump to latest
        </Button>
      )}
      <ThreadAnnouncer />
    </div>
  );
}

/** Announces changes to screen readers: once for each change, never for a token. */
function ThreadAnnouncer(): ReactNode {
  const news = useThread(newsOf);
  return (
    <p className="visually-hidden" role="status">
      {news}
    </p>
  );
}

function newsOf({ view: { run, interrupts } }: ThreadSnapshot): string {
  if (interrupts.length > 0) return "The agent waits for your answer.";
  if (!run || run.serviceRunId.startsWith("throughline:")) return "";
  switch (run.status) {
    case "running":
      return "The agent is working.";
    case "success":
      return "The agent is done.";
    case "cancelled":
      return "The run was stopped.";
    case "error":
      return "The run failed.";
    case "interrupted":
      return "The agent paused.";
  }
}
