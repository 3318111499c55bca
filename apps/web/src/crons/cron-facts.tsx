"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { isGeneratedName } from "../agents/is-generated-name";
import { agentPath, threadPath } from "../console/paths";
import { RelativeTime } from "../design/relative-time";
import type { Cron } from "../service/queries/crons";
import styles from "./cron-facts.module.css";
import { dependsOnTimeZone } from "./schedule-plan";
import { taskWords } from "./task-words";
import { timeWords } from "./time-words";

interface CronFactsProps {
  readonly cron: Cron;
  readonly agentName: string;
}

export function CronFacts({ cron, agentName }: CronFactsProps): ReactNode {
  const { schedule, timeZone, threadName } = cron;
  return (
    <dl className={styles.facts}>
      <Fact label="Next">
        {!cron.enabled && "Paused"}
        {cron.enabled && cron.nextAt === null && "Never again"}
        {cron.enabled && cron.nextAt !== null && (
          <>
            <RelativeTime at={cron.nextAt} />{" "}
            <span className={styles.quiet}>
              {timeWords(cron.nextAt, timeZone, !dependsOnTimeZone(schedule))}
            </span>
          </>
        )}
      </Fact>
      <Fact label="Schedule">
        <code>{schedule}</code>{" "}
        {dependsOnTimeZone(schedule) && <span className={styles.quiet}>{timeZone}</span>}
      </Fact>
      <Fact label="Task">
        <Link href={agentPath(cron.agent)} className={styles.link}>
          {agentName}
        </Link>{" "}
        {taskWords(cron.input)}
      </Fact>
      <Fact label="Thread">
        {threadName === null ? (
          "A new one each time"
        ) : (
          <Link href={threadPath(cron.agent, threadName)} className={styles.link}>
            {isGeneratedName(threadName) ? "Untitled thread" : threadName}
          </Link>
        )}
      </Fact>
      <Fact label="When busy">{cron.overlap === "skip" ? "Skips this run" : "Waits, then runs"}</Fact>
      <Fact label="When missed">{cron.missed === "skip" ? "Skips them" : "Runs once for all of them"}</Fact>
    </dl>
  );
}

function Fact({ label, children }: { readonly label: string; readonly children: ReactNode }): ReactNode {
  return (
    <div className={styles.fact}>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
