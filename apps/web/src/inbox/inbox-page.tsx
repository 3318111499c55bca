"use client";

import { type ReactNode, useMemo, useRef, useState } from "react";
import { useActivityProblem, useRefreshActivity, useWaiting } from "../agents/activity";
import { useCaller } from "../console/caller";
import { outcomeWords } from "../conversation/steering/outcome-words";
import { Button } from "../design/button";
import { EmptyState } from "../design/empty-state";
import { Kbd } from "../design/kbd";
import { ListProblem } from "../design/list-problem";
import { PageFrame } from "../design/page-frame";
import { Problem } from "../design/problem";
import { Skeleton } from "../design/skeleton";
import { LISTED_THREADS } from "../service/queries/waiting";
import styles from "./inbox-page.module.css";
import { InboxThread } from "./inbox-thread";
import { NoticeButton } from "./notice-button";
import { useAnswerThread } from "./use-answer-thread";
import { useQuestionKeys } from "./use-question-keys";
import { type WaitingThread, waitingThreads } from "./waiting-threads";
import { waitingWords } from "./waiting-words";

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
