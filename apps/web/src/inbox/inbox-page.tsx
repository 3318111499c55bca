"use client";

import type { CommandOutcome } from "@throughline/agent-client";
import dynamic from "next/dynamic";
import Link from "next/link";
import { type ReactNode, type RefObject, useId, useMemo, useRef, useState } from "react";
import { outcomeWords } from "../agent-ui/conversation/outcome-text";
import { PausedCard } from "../agent-ui/interrupts/paused-card";
import { Button } from "../agent-ui/primitives/button";
import { Problem } from "../agent-ui/primitives/field";
import { Icon } from "../agent-ui/primitives/icon";
import { Kbd } from "../agent-ui/primitives/kbd";
import { EmptyState, ListProblem, Skeleton } from "../agent-ui/primitives/status";
import { RelativeTime } from "../agent-ui/primitives/time";
import { useActivityProblem, useRefreshActivity, useWaiting } from "../agents/activity";
import { useAgentCatalog } from "../data/agents";
import { useCaller } from "../data/caller";
import { LISTED_THREADS } from "../data/thread-lists";
import { PageFrame } from "../shell/page-frame";
import { sharedOf, threadPath } from "../shell/routes";
import { useShortcut } from "../shell/shortcuts";
import styles from "./inbox-page.module.css";
import { NoticeButton } from "./notifications";
import { type Reply, useAnswerThread, type WaitingThread, waitingThreads } from "./waiting-threads";

/** Every open question of every agent. */
export function InboxPage(): ReactNode {
  const waiting = useWaiting();
  const problem = useActivityProblem();
  const refresh = useRefreshActivity();
  const threads = useMemo(() => waitingThreads(waiting?.questions ?? []), [waiting]);
  const answer = useAnswerThread();
  const list = useRef<HTMLUListElement>(null);
  const many = useApproveMany(threads);
  useQuestionKeys(list);
  return (
    <PageFrame
      title="Inbox"
      lead={
        threads.length > 0 ? (
          <>
            <span role="status">{waitingWords(waiting?.questions.length ?? 0)}.</span>{" "}
            <span className={styles.keys}>
              <Kbd keys="j" /> <Kbd keys="k" /> go from one to the next.
            </span>
          </>
        ) : (
          "Questions of all agents, to be answered here."
        )
      }
      actions={<NoticeButton />}
    >
      {problem && <ListProblem message={problem.message} onRetry={refresh} />}
      {!waiting && !problem && <Skeleton label="Loading questions" lines={6} />}
      {waiting && threads.length === 0 && (
        <EmptyState title="Nothing waits for you">
          When an agent asks something, it shows here, whichever agent it is.
        </EmptyState>
      )}
      {many.selectable.size > 1 && (
        <div className={styles.many}>
          <label className={styles.all}>
            <input
              type="checkbox"
              checked={many.selected.length === many.selectable.size}
              disabled={many.isSending}
              onChange={(event) => many.select(event.target.checked ? [...many.selectable] : [])}
            />
            Select all {many.selectable.size} that only need approval
          </label>
          <Button
            look="primary"
            disabled={many.isSending || many.selected.length === 0}
            onClick={() => void many.approve()}
          >
            {many.isSending ? "Approving…" : `Approve selected (${many.selected.length})`}
          </Button>
        </div>
      )}
      <Problem>{many.problem}</Problem>
      <ul ref={list} className={styles.threads} aria-label="Threads that wait for you">
        {threads.map((thread) => (
          <InboxThread
            key={thread.key}
            thread={thread}
            isSelected={many.selected.includes(thread)}
            isBusy={many.isSending && many.selected.includes(thread)}
            onSelect={
              many.selectable.size > 1 && many.selectable.has(thread.key)
                ? (isSelected) => many.selectOne(thread.key, isSelected)
                : undefined
            }
            onAnswer={(reply) => answer(thread.name, reply)}
          />
        ))}
      </ul>
      {waiting?.hasMore && (
        <p className={styles.more}>
          These are the newest {LISTED_THREADS} threads that wait. Older ones follow when these are answered.
        </p>
      )}
    </PageFrame>
  );
}

/** Approves all that selected threads ask, with one press. */
function useApproveMany(threads: readonly WaitingThread[]) {
  const answer = useAnswerThread();
  const { refusal } = useCaller();
  const [keys, setKeys] = useState<readonly string[]>([]);
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<string>();
  const selectable = new Set(
    threads
      .filter(({ approvals, name }) => approvals && refusal("answer", name) === undefined)
      .map(({ key }) => key),
  );
  const selected = threads.filter(({ key }) => selectable.has(key) && keys.includes(key));

  async function approve(): Promise<void> {
    setSending(true);
    setProblem(undefined);
    const outcomes = await Promise.all(selected.map(({ name, approvals = {} }) => answer(name, approvals)));
    setSending(false);
    setKeys([]);
    const problems = outcomes.flatMap((outcome) => outcomeWords(outcome) ?? []);
    if (problems.length > 0)
      setProblem(
        `${problems.length} of ${outcomes.length} did not work. ${[...new Set(problems)].join(" ")}`,
      );
  }

  return {
    selectable,
    selected,
    isSending,
    problem,
    approve,
    select: setKeys,
    selectOne: (key: string, isSelected: boolean) =>
      setKeys((before) => (isSelected ? [...before, key] : before.filter((one) => one !== key))),
  };
}

const QuestionCards = dynamic(
  () => import("../agent-ui/interrupts/interrupt-list").then((module) => module.QuestionCards),
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
function InboxThread({ thread, isSelected, isBusy, onSelect, onAnswer }: InboxThreadProps): ReactNode {
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

/** A row of calls to decide on, or a card that has none. */
const STOPS = "fieldset[tabindex], article:not(:has(fieldset[tabindex]))";

/** `j` and `k` go from question to question. Behind an answered one, `j` goes to the one that took its place. */
function useQuestionKeys(list: RefObject<HTMLElement | null>): void {
  const last = useRef(-1);

  function go(step: 1 | -1): void {
    const stops = [...(list.current?.querySelectorAll<HTMLElement>(STOPS) ?? [])];
    const here = stops.findIndex((stop) => stop.contains(document.activeElement));
    const next = here >= 0 ? here + step : step > 0 ? Math.max(last.current, 0) : last.current - 1;
    const at = Math.min(Math.max(next, 0), stops.length - 1);
    last.current = at;
    stops[at]?.focus();
    stops[at]?.scrollIntoView({ block: "nearest" });
  }

  useShortcut("j", "Next question", () => go(1));
  useShortcut("k", "Previous question", () => go(-1));
}
/** "1 question waits", "3 questions wait". */
export function waitingWords(count: number): string {
  return count === 1 ? "1 question waits" : `${count} questions wait`;
}
