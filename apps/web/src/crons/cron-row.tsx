"use client";

import Link from "next/link";
import { useRouter } from "next/navigation";
import { type ReactNode, useState } from "react";
import { threadPath } from "../console/paths";
import { IconButton } from "../design/button";
import { Menu } from "../design/menu";
import { Problem } from "../design/problem";
import { RelativeTime } from "../design/relative-time";
import { StatusDot } from "../design/status-dot";
import type { Cron } from "../service/queries/crons";
import { capitalised } from "./capitalised";
import { cronPath } from "./cron-paths";
import styles from "./cron-row.module.css";
import { cronStatus } from "./cron-status";
import { DeleteCronDialog } from "./delete-cron-dialog";
import { scheduleWords } from "./schedule-plan";
import { taskWords } from "./task-words";
import { tickWords } from "./tick-words";
import { useCronActions } from "./use-cron-actions";

interface CronRowProps {
  readonly cron: Cron;
  readonly agentName: string;
}

export function CronRow({ cron, agentName }: CronRowProps): ReactNode {
  const deeds = useCronActions(cron);
  const { schedule } = deeds.refusals;
  const [isDeleting, setDeleting] = useState(false);
  const router = useRouter();
  const words = capitalised(scheduleWords(cron.schedule));
  const path = cronPath(cron.id);
  return (
    <li className={styles.row} data-paused={!cron.enabled}>
      <span className={styles.dot}>
        <StatusDot status={cronStatus(cron)} />
      </span>
      <div className={styles.what}>
        <Link href={path} className={styles.name}>
          {words}
        </Link>
        <p className={styles.task}>
          {agentName} <span className={styles.quiet}>{taskWords(cron.input)}</span>
        </p>
      </div>
      <dl className={styles.facts}>
        <div>
          <dt>Next</dt>
          <dd>{nextWords(cron)}</dd>
        </div>
        <div>
          <dt>Last</dt>
          <dd>{cron.lastTick ? <LastTick tick={cron.lastTick} /> : "Not yet"}</dd>
        </div>
      </dl>
      <div className={styles.deeds}>
        <IconButton
          icon="bolt"
          label={deeds.refusals.run ?? `Run now: ${words}`}
          disabled={deeds.isBusy || deeds.refusals.run !== undefined}
          onClick={deeds.runNow}
        />
        <IconButton
          icon={cron.enabled ? "pause" : "play"}
          label={schedule ?? `${cron.enabled ? "Pause" : "Resume"}: ${words}`}
          disabled={deeds.isBusy || schedule !== undefined}
          onClick={deeds.toggle}
        />
        <Menu
          label={`More for ${words}`}
          items={[
            { label: "Edit", icon: "edit", reason: schedule, onSelect: () => router.push(`${path}?edit=1`) },
            { label: "History", icon: "clock", onSelect: () => router.push(path) },
            {
              label: "Delete",
              icon: "trash",
              isDanger: true,
              startsGroup: true,
              reason: schedule,
              onSelect: () => setDeleting(true),
            },
          ]}
        />
      </div>
      <Problem className={styles.problem}>{deeds.problem}</Problem>
      <DeleteCronDialog
        cron={cron}
        agentName={agentName}
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
      />
    </li>
  );
}

function nextWords({ enabled, nextAt }: Cron): ReactNode {
  if (!enabled) return "Paused";
  return nextAt === null ? "Never again" : <RelativeTime at={nextAt} />;
}

function LastTick({ tick }: { readonly tick: NonNullable<Cron["lastTick"]> }): ReactNode {
  const { status, words } = tickWords(tick);
  return (
    <Link
      href={threadPath(tick.agent, tick.threadName)}
      className={styles.last}
      data-status={status}
      title={words}
    >
      {words.split(":")[0]} <RelativeTime at={tick.claimedAt} className={styles.quiet ?? ""} />
    </Link>
  );
}
