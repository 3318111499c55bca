"use client";

import type { CommandOutcome } from "@throughline/agent-client";
import dynamic from "next/dynamic";
import Link from "next/link";
import { type ReactNode, type RefObject, useId, useMemo, useRef, useState } from "react";
import { outcomeText } from "../agent-ui/conversation/outcome-text";
import { PausedCard } from "../agent-ui/interrupts/paused-card";
import { Button } from "../agent-ui/primitives/button";
import { EmptyState } from "../agent-ui/primitives/empty-state";
import { Problem } from "../agent-ui/primitives/field";
import { Icon } from "../agent-ui/primitives/icon";
import { Kbd } from "../agent-ui/primitives/kbd";
import { ErrorState, Skeleton } from "../agent-ui/primitives/status";
import { RelativeTime } from "../agent-ui/primitives/time";
import { useActivityProblem, useRefreshActivity, useWaiting } from "../agents/activity";
import { useAgentCatalog } from "../data/agents";
import { useCaller } from "../data/caller";
import { LISTED_THREADS } from "../data/thread-lists";
import { PageFrame } from "../shell/page-frame";
import { sharedOf, threadPath } from "../shell/routes";
import { useShortcut } from "../shell/shortcuts";
import styles from "./inbox-page.module.css";
import { NoticeButton } from "./notice-button";
import { waitingText } from "./waiting-text";
import { type Reply, useRespondToThread, type WaitingThread, waitingThreads } from "./waiting-threads";

/** Every open interrupt of every agent. */
export function InboxPage(): ReactNode {
  const waiting = useWaiting();
  const problem = useActivityProblem();
  const refresh = useRefreshActivity();
  const threads = useMemo(() => waitingThreads(waiting?.questions ?? []), [waiting]);
  const answer = useRespondToThread();
  const list = useRef<HTMLUListElement>(null);
  const many = useApproveMany(threads);
  useInterruptKeys(list);
  return (
    <PageFrame
      title="Inbox"
      lead={
        threads.length > 0 ? (
          <>
            <span role="status">{waitingText(waiting?.questions.length ?? 0)}.</span>{" "}
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
      {problem && <ErrorState message={problem.message} onRetry={refresh} />}
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
            onRespond={(reply) => answer(thread.name, reply)}
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

/** Approves all interrupts of the selected threads at once. */
function useApproveMany(threads: readonly WaitingThread[]) {
  const answer = useRespondToThread();
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
    const problems = outcomes.flatMap((outcome) => outcomeText(outcome) ?? []);
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

const InterruptList = dynamic(
  () => import("../agent-ui/interrupts/interrupt-list").then((module) => module.InterruptList),
  { ssr: false },
);

interface InboxThreadProps {
  readonly thread: WaitingThread;
  readonly isSelected: boolean;
  /** It is being approved with others. */
  readonly isBusy: boolean;
  /** `undefined`: it can't be approved with others. */
  readonly onSelect: ((isSelected: boolean) => void) | undefined;
  readonly onRespond: (reply: Reply) => Promise<CommandOutcome>;
}

/** A waiting thread with its agent, title and every way to respond. */
function InboxThread({ thread, isSelected, isBusy, onSelect, onRespond }: InboxThreadProps): ReactNode {
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
        <InterruptList
          thread={name}
          questions={questions}
          label={`Questions of ${agent}: ${title}`}
          isBusy={isBusy}
          onSend={onRespond}
        />
      ) : (
        <PausedCard thread={name} moment={runId} onContinue={() => onRespond(undefined)} />
      )}
    </li>
  );
}

/** Elements that `j` and `k` visit: a row of a call, or a card without rows. */
const STOPS = "fieldset[tabindex], article:not(:has(fieldset[tabindex]))";

/** Moves the focus between interrupts with `j` and `k`. After a response, `j` goes to the interrupt that now has its index. */
function useInterruptKeys(list: RefObject<HTMLElement | null>): void {
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
