"use client";

import type { CallView } from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import type { ReactNode } from "react";
import { Icon, type IconName } from "../../design/icon";
import { RelativeTime } from "../../design/relative-time";
import { useSteering } from "../steering/steering";
import styles from "./run-caption.module.css";
import { ORIGIN_HINTS, ORIGIN_WORDS, type RunOrigin, runOrigin } from "./run-origin";
import type { Turn } from "./turns";

const ICONS: Readonly<Partial<Record<RunOrigin, IconName>>> = { schedule: "clock", outsider: "fork" };

const ANSWERED_WORDS: Readonly<Record<RunOrigin, string>> = {
  you: "You answered",
  "another-tab": "Answered in another tab",
  person: "A person of the account answered",
  schedule: "Schedule",
  outsider: "Another client answered",
};

interface RunCaptionProps {
  readonly run: CallView | undefined;
  readonly turn: Turn;
  readonly openedAt: number;
}

/** Who or what began it, and when. */
export function RunCaption({ run, turn: { userId, isAnswer }, openedAt }: RunCaptionProps): ReactNode {
  const { isOwnMessage, isOwnRun, answerOf } = useSteering();
  const isOwn = userId === undefined ? run !== undefined && isOwnRun(run.runId) : isOwnMessage(userId);
  const isShared = useThreadHandle().visibility === "account";
  const starter = runOrigin(run, { isOwn, openedAt, isShared });
  const icon = ICONS[starter];
  const words = run && answerOf(run.runId);
  const answered = words === undefined ? undefined : `You ${words}`;
  return (
    <p className={styles.caption} title={ORIGIN_HINTS[starter]}>
      {icon && <Icon name={icon} size={12} />}
      <span>{isAnswer ? (answered ?? ANSWERED_WORDS[starter]) : ORIGIN_WORDS[starter]}</span>
      {run && <RelativeTime at={run.startedAt * 1_000} className={styles.time ?? ""} />}
      {run && run.attempt > 0 && <span>recovered after a crash, attempt {run.attempt + 1}</span>}
    </p>
  );
}
