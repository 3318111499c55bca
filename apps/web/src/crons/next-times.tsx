"use client";

import type { ReactNode } from "react";
import { RelativeTime } from "../design/relative-time";
import { Skeleton } from "../design/skeleton";
import styles from "./next-times.module.css";
import { dependsOnTimeZone } from "./schedule-plan";
import { timeWords } from "./time-words";

interface NextTimesProps {
  readonly times: readonly string[] | undefined;
  readonly schedule: string;
  readonly timeZone: string;
  readonly isWrong: boolean;
}

/** When a schedule would run: the surest way to see that it says what one means. */
export function NextTimes({ times, schedule, timeZone, isWrong }: NextTimesProps): ReactNode {
  const withSeconds = !dependsOnTimeZone(schedule) || schedule.trim().split(/\s+/).length > 5;
  return (
    <section className={styles.next} aria-label="The next five times">
      <h3 className={styles.title}>Next five times</h3>
      {isWrong && <p className={styles.none}>Shown when the schedule is valid.</p>}
      {!isWrong && times === undefined && <Skeleton label="Asking for the next times" lines={5} />}
      {!isWrong && times?.length === 0 && <p className={styles.none}>It would never run.</p>}
      {!isWrong && times && times.length > 0 && (
        <ol className={styles.times}>
          {times.map((time) => (
            <li key={time} className={styles.time}>
              <span>{timeWords(time, timeZone, withSeconds)}</span>
              <RelativeTime at={time} className={styles.relative ?? ""} />
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
