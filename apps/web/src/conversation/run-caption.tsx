"use client";

import type { CallView } from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import type { ReactNode } from "react";
import { Icon, type IconName } from "../design/icon";
import { RelativeTime } from "../design/relative-time";
import styles from "./run-caption.module.css";
import { useSteering } from "./steering";
import type { Turn } from "./turns";
import { STARTER_HINTS, STARTER_WORDS, type Starter, whoStarted } from "./who-started";

const ICONS: Readonly<Partial<Record<Starter, IconName>>> = { schedule: "clock", outsider: "fork" };

const ANSWERED_WORDS: Readonly<Record<Starter, string>> = {
  you: "You answered",
  "another-tab": "Answered in another tab",
  person: "A person of the account answered",
  schedule: "Schedule",
  outsider: "An outsider answered",
};

interface RunCaptionProps {
  readonly run: CallView | undefined;
  readonly turn: Turn;
  readonly openedAt: number;
}

/** Who or what began it, and when. */
export function RunCaption({ run, turn: { userId, isAnswer }, openedAt }: RunCaptionProps): ReactNode {
  const { isOwnMessage, isOwnRun } = useSteering();
  const isOwn = userId === undefined ? run !== undefined && isOwnRun(run.runId) : isOwnMessage(userId);
  const isShared = useThreadHandle().visibility === "account";
  const starter = whoStarted(run, { isOwn, openedAt, isShared });
  const icon = ICONS[starter];
  return (
    <p className={styles.caption} title={STARTER_HINTS[starter]}>
      {icon && <Icon name={icon} size={12} />}
      <span>{isAnswer && starter !== "schedule" ? ANSWERED_WORDS[starter] : STARTER_WORDS[starter]}</span>
      {run && <RelativeTime at={run.startedAt * 1_000} className={styles.time ?? ""} />}
      {run && run.attempt > 0 && <span>taken up again after a crash, attempt {run.attempt + 1}</span>}
    </p>
  );
}
