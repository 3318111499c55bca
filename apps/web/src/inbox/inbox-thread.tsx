"use client";

import type { CommandOutcome } from "@throughline/agent-client";
import dynamic from "next/dynamic";
import Link from "next/link";
import { type ReactNode, useId } from "react";
import { sharedOf, threadPath } from "../console/paths";
import { useAgentCatalog } from "../console/use-agent-catalog";
import { Icon } from "../design/icon";
import { RelativeTime } from "../design/relative-time";
import { PausedCard } from "../interrupts/paused-card";
import styles from "./inbox-thread.module.css";
import type { Reply } from "./use-answer-thread";
import type { WaitingThread } from "./waiting-threads";

const QuestionCards = dynamic(
  () => import("../interrupts/question-cards").then((module) => module.QuestionCards),
  { ssr: false },
);

interface InboxThreadProps {
  readonly thread: WaitingThread;
  readonly isSelected: boolean;
  /** It is being approved together with others. */
  readonly isBusy: boolean;
  /** `undefined`: it can't be approved with others. */
  readonly onSelect: ((isSelected: boolean) => void) | undefined;
  readonly onAnswer: (reply: Reply) => Promise<CommandOutcome>;
}

/** A thread that waits: whose it is, and every way to answer it. */
export function InboxThread({ thread, isSelected, isBusy, onSelect, onAnswer }: InboxThreadProps): ReactNode {
  const { name, runId, title, askedAt, questions } = thread;
  const id = useId();
  const agent = useAgentCatalog().byId.get(name.agentId)?.name ?? name.agentId;
  return (
    <li className={styles.thread} aria-labelledby={id}>
      <div className={styles.head}>
        {onSelect && (
          <input
            type="checkbox"
            className={styles.tick}
            checked={isSelected}
            disabled={isBusy}
            aria-label={`Select ${agent}: ${title}`}
            onChange={(event) => onSelect(event.target.checked)}
          />
        )}
        <h2 id={id} className={styles.title}>
          <span className={styles.agent}>{agent}</span>{" "}
          <Link href={threadPath(name.agentId, name.threadId, sharedOf(name))} prefetch={false}>
            {title}
          </Link>
        </h2>
        {name.visibility === "account" && (
          <span className={styles.shared} title="Shared with the account">
            <Icon name="people" />
            <span className="visually-hidden">Shared with the account</span>
          </span>
        )}
        <RelativeTime at={askedAt} className={styles.when ?? ""} />
      </div>
      {questions.length > 0 ? (
        <QuestionCards
          thread={name}
          questions={questions}
          label={`Questions of ${agent}: ${title}`}
          isBusy={isBusy}
          onSend={onAnswer}
        />
      ) : (
        <PausedCard thread={name} moment={runId} onContinue={() => onAnswer(undefined)} />
      )}
    </li>
  );
}
