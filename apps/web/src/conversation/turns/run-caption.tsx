"use client";

import type { CallView } from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import type { ReactNode } from "react";
import { Icon, type IconName } from "../../design/icon";
import { RelativeTime } from "../../design/relative-time";
import { useRunStarter } from "../../service/queries/runs";
import type { SettledThread } from "../settled/settled-thread";
import { useSettledThread } from "../settled/use-settled-thread";
import { useSteering } from "../steering/steering";
import styles from "./run-caption.module.css";
import { type Opening, ORIGIN_HINTS, originWords, type RunOrigin, runOrigin } from "./run-origin";
import type { Turn } from "./turns";

const ICONS: Readonly<Partial<Record<RunOrigin, IconName>>> = { schedule: "clock", outsider: "fork" };

interface RunCaptionProps {
  readonly run: CallView | undefined;
  readonly turn: Turn;
  readonly openedAt: number;
}

/** Who or what began it, and when. */
export function RunCaption({ run, turn, openedAt }: RunCaptionProps): ReactNode {
  const { userId, isAnswer } = turn;
  const { isOwnMessage, isOwnRun, answerOf } = useSteering();
  const thread = useThreadHandle();
  const isShared = thread.visibility === "account";
  const isSilent = userId === undefined && !isAnswer;
  const startedBy = useStarter(run, isSilent || isShared);
  const command = startedBy?.command;
  const isOwn = userId === undefined ? run !== undefined && isOwnRun(run.runId) : isOwnMessage(userId);
  const starter = runOrigin(run, { isOwn, openedAt, isShared });
  const icon = ICONS[starter];
  const opening: Opening = isAnswer
    ? { kind: "answer", words: run && answerOf(run.runId) }
    : command !== undefined
      ? { kind: "command", command }
      : { kind: isSilent ? "nothing" : "message" };
  return (
    <p className={styles.caption} title={ORIGIN_HINTS[starter]}>
      {icon && <Icon name={icon} size={12} />}
      <span>{originWords(starter, opening, startedBy?.person)}</span>
      {run && <RelativeTime at={run.startedAt * 1_000} className={styles.time ?? ""} />}
      {run && run.attempt > 0 && <span>recovered after a crash, attempt {run.attempt + 1}</span>}
    </p>
  );
}

/** What only the list of runs says of one. Asked where the conversation itself does not show it. */
function useStarter(run: CallView | undefined, isAsked: boolean) {
  const newest = useSettledThread(newestRun);
  return useRunStarter(useThreadHandle(), isAsked ? run?.runId : undefined, newest);
}

function newestRun({ run }: SettledThread): string | undefined {
  return run?.serviceRunId;
}
