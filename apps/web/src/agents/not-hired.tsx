"use client";

import type { JsonObject } from "@throughline/ai-core";
import Link from "next/link";
import type { ReactNode } from "react";
import { isJsonObject } from "../agent-ui/primitives/is-json-object";
import { useStateAfter } from "../data/checkpoints";
import type { Tick } from "../data/crons";
import { threadPath } from "../shell/routes";
import styles from "./not-hired.module.css";

/** Whether the Sentinel's own log ends with a command that was refused because the agent is not hired. */
export function isNotHired({ log }: JsonObject): boolean {
  const last = Array.isArray(log) ? log.at(-1) : undefined;
  return last !== undefined && isJsonObject(last) && last.code === "not_hired";
}

interface NotHiredProps {
  readonly tick: Tick;
  readonly agentName: string;
}

/** Reports that the agent refused the cron's last run because it is not hired, with a link to hire it. */
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
