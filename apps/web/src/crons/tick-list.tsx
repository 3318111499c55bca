"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { threadPath } from "../console/paths";
import { Icon } from "../design/icon";
import { RelativeTime } from "../design/relative-time";
import { StatusDot } from "../design/status-dot";
import type { Tick } from "../service/queries/crons";
import styles from "./tick-list.module.css";
import { tickWords } from "./tick-words";
import { timeWords } from "./time-words";

interface TickListProps {
  readonly ticks: readonly Tick[];
  readonly timeZone: string;
}

/** What a cron did, newest first, as points on its line. */
export function TickList({ ticks, timeZone }: TickListProps): ReactNode {
  return (
    <ol className={styles.ticks} aria-label="Ticks, newest first">
      {ticks.map((tick) => (
        <TickItem key={tick.id} tick={tick} timeZone={timeZone} />
      ))}
    </ol>
  );
}

function TickItem({ tick, timeZone }: { readonly tick: Tick; readonly timeZone: string }): ReactNode {
  const { status, words } = tickWords(tick);
  const isLive = status === "running";
  return (
    <li className={styles.tick} data-status={status}>
      <span className={styles.dot}>
        <StatusDot status={status} />
      </span>
      <span className={styles.time}>{timeWords(tick.scheduledAt, timeZone, true)}</span>
      <span className={styles.words}>
        {words}
        {tick.missed > 0 && <span className={styles.missed}> · for {tick.missed} missed</span>}
      </span>
      <RelativeTime at={tick.claimedAt} className={styles.ago ?? ""} />
      <Link href={threadPath(tick.agent, tick.threadName)} className={styles.open}>
        {isLive ? "Watch live" : "Open thread"}
        <Icon name="chevronRight" size={14} />
      </Link>
    </li>
  );
}
