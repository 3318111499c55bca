"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { isNotHired } from "../agents/is-not-hired";
import { threadPath } from "../console/paths";
import { useStateAfter } from "../service/queries/checkpoints";
import type { Tick } from "../service/queries/crons";
import styles from "./not-hired.module.css";

interface NotHiredProps {
  readonly tick: Tick;
  readonly agentName: string;
}

/** Says that the agent refused the cron's last run because it is not hired, and where to hire it. */
export function NotHired({ tick, agentName }: NotHiredProps): ReactNode {
  const { agent: agentId, threadName: threadId, outcome, runStatus } = tick;
  const runId = outcome.kind === "started" && runStatus === "success" ? outcome.runId : undefined;
  const { value } = useStateAfter({ agentId, threadId }, runId);
  if (!value || !isNotHired(value)) return null;
  return (
    <p className={styles.notHired} role="status">
      Not hired: {agentName} does nothing in this thread until it is hired.{" "}
      <Link href={threadPath(agentId, threadId)}>Hire {agentName}</Link>
    </p>
  );
}
