"use client";

import type { CallView } from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import type { ReactNode } from "react";
import { useCaller } from "../../data/caller";
import { type Run, useRunStarter } from "../../data/runs";
import { Icon, type IconName } from "../primitives/icon";
import { RelativeTime } from "../primitives/time";
import styles from "./run-caption.module.css";
import { isEdit, type Opening, ORIGIN_HINTS, originText, type RunOrigin, runOrigin } from "./run-origin";
import { type StableThread, useStableThread } from "./stable-thread";
import { useThreadSession } from "./thread-session";
import type { Turn } from "./turns";

const ICONS: Readonly<Partial<Record<RunOrigin, IconName>>> = { schedule: "clock", outsider: "fork" };

interface RunCaptionProps {
  readonly run: CallView | undefined;
  readonly turn: Turn;
  readonly openedAt: number;
}

/** Shows who or what started a run, and when. Requests the list of runs only where neither conversation nor log contain that. */
export function RunCaption(props: RunCaptionProps): ReactNode {
  const isShared = useThreadHandle().visibility === "account";
  const isAsked = props.run !== undefined && (isShared || isSilent(props.turn));
  return isAsked ? <AskedCaption {...props} /> : <Caption {...props} startedBy={undefined} isMine={false} />;
}

function AskedCaption(props: RunCaptionProps): ReactNode {
  const { run, turn } = props;
  const newest = useStableThread(newestRun);
  const isKnown = run?.startedBy?.person !== undefined && !isSilent(turn);
  const startedBy = useRunStarter(useThreadHandle(), isKnown ? undefined : run?.runId, newest);
  const subject = useCaller().subject ?? undefined;
  const isMine = subject !== undefined && personOf(run, startedBy) === subject;
  return <Caption {...props} startedBy={startedBy} isMine={isMine} />;
}

function personOf(run: CallView | undefined, startedBy: Run["startedBy"] | undefined): string | undefined {
  return run?.startedBy?.person ?? startedBy?.person;
}

interface CaptionProps extends RunCaptionProps {
  readonly startedBy: Run["startedBy"] | undefined;
  /** The service reports the caller as its starter. */
  readonly isMine: boolean;
}

function Caption({ run, turn, openedAt, startedBy, isMine }: CaptionProps): ReactNode {
  const { userId } = turn;
  const { isOwnMessage, isOwnRun } = useThreadSession();
  const isShared = useThreadHandle().visibility === "account";
  const isOwn = userId === undefined ? run !== undefined && isOwnRun(run.runId) : isOwnMessage(userId);
  const starter = runOrigin(run, { isOwn: isOwn || (isShared && isMine), openedAt, isShared });
  const icon = ICONS[starter];
  const opening = openingOf(turn, run, startedBy);
  return (
    <p className={styles.caption} title={ORIGIN_HINTS[starter]}>
      {icon && <Icon name={icon} size={12} />}
      <span>{originText(starter, opening, personOf(run, startedBy))}</span>
      {run && <RelativeTime at={run.startedAt * 1_000} className={styles.time ?? ""} />}
      {run && run.attempt > 0 && <span>recovered after a crash, attempt {run.attempt + 1}</span>}
    </p>
  );
}

function openingOf(turn: Turn, run: CallView | undefined, startedBy: Run["startedBy"] | undefined): Opening {
  if (isEdit(run?.startedBy)) return { kind: "edited" };
  if (run?.answered) return { kind: "answer", words: run.answered.map(({ words }) => words).join("; ") };
  // The log has no text of a response that was sent elsewhere.
  if (turn.isResponse)
    return run?.startedBy?.kind === "client" ? { kind: "continued" } : { kind: "answer", words: undefined };
  if (startedBy?.command !== undefined) return { kind: "command", command: startedBy.command };
  // Until the list of runs is loaded, it may have been a command.
  return { kind: startedBy && isSilent(turn) ? "nothing" : "message" };
}

/** Whether neither a message nor a response started the turn. */
function isSilent({ userId, isResponse }: Turn): boolean {
  return userId === undefined && !isResponse;
}

function newestRun({ run }: StableThread): string | undefined {
  return run?.serviceRunId;
}
