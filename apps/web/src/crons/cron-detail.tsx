"use client";

import Link from "next/link";
import { useRouter, useSearchParams } from "next/navigation";
import { type ReactNode, useState } from "react";
import { Button } from "../agent-ui/primitives/button";
import { EmptyState } from "../agent-ui/primitives/empty-state";
import { Problem } from "../agent-ui/primitives/field";
import { Icon } from "../agent-ui/primitives/icon";
import { Menu } from "../agent-ui/primitives/menu";
import { ErrorState, Skeleton, StatusDot } from "../agent-ui/primitives/status";
import { RelativeTime } from "../agent-ui/primitives/time";
import { NotHired } from "../agents/not-hired";
import { isGeneratedName } from "../agents/thread-pages";
import { useAgentCatalog } from "../data/agents";
import { type Cron, type Tick, useChangeCron, useCron, useTicks } from "../data/crons";
import { PageFrame } from "../shell/page-frame";
import { agentPath, CRONS_PATH, cronPath, threadPath } from "../shell/routes";
import { DeleteCronDialog, useCronActions } from "./cron-actions";
import styles from "./cron-detail.module.css";
import { draftOf } from "./cron-draft";
import { CronForm } from "./cron-form";
import { capitalised, formatTime, taskText, tickText } from "./cron-text";
import { dependsOnTimeZone, scheduleText } from "./schedule";

/** Page of one cron: its settings, its ticks and its actions. */
export function CronDetail({ id }: { readonly id: string }): ReactNode {
  const { agents, byId } = useAgentCatalog();
  const router = useRouter();
  const isEditing = useSearchParams().has("edit");
  const { value: cron, problem, refresh } = useCron(id);
  const ticks = useTicks(id);
  const changeCron = useChangeCron(id);
  const [isDeleting, setDeleting] = useState(false);
  const cronActions = useCronActions({ id, enabled: cron?.enabled ?? false });
  const above = <Link href={CRONS_PATH}>Crons</Link>;

  if (!cron) {
    return (
      <PageFrame title="Cron" above={above}>
        {problem ? (
          <ErrorState message={problem.message} onRetry={refresh} />
        ) : (
          <Skeleton label="Loading the cron" lines={6} />
        )}
      </PageFrame>
    );
  }
  const agentName = byId.get(cron.agent)?.name ?? cron.agent;
  if (isEditing) {
    return (
      <PageFrame title="Edit cron" above={above}>
        {agents ? (
          <CronForm
            agents={agents}
            initial={draftOf(cron)}
            before={cron}
            action="Save"
            onSave={async (request) => {
              await changeCron(request);
              router.replace(cronPath(id));
            }}
            onCancel={() => router.replace(cronPath(id))}
          />
        ) : (
          <Skeleton label="Loading agents" lines={6} />
        )}
      </PageFrame>
    );
  }
  const { run, schedule } = cronActions.refusals;
  const actions = (
    <>
      <Button onClick={cronActions.runNow} disabled={cronActions.isBusy || run !== undefined} title={run}>
        <Icon name="bolt" />
        Run now
      </Button>
      <Button
        onClick={cronActions.toggle}
        disabled={cronActions.isBusy || schedule !== undefined}
        title={schedule}
      >
        <Icon name={cron.enabled ? "pause" : "play"} />
        {cron.enabled ? "Pause" : "Resume"}
      </Button>
      <Button
        disabled={schedule !== undefined}
        title={schedule}
        onClick={() => router.replace(`${cronPath(id)}?edit=1`)}
      >
        <Icon name="edit" />
        Edit
      </Button>
      <Menu
        label="More"
        items={[
          {
            label: "Delete",
            icon: "trash",
            isDanger: true,
            reason: schedule,
            onSelect: () => setDeleting(true),
          },
        ]}
      />
    </>
  );
  return (
    <PageFrame title={capitalised(scheduleText(cron.schedule))} above={above} actions={actions}>
      <Problem>{cronActions.problem}</Problem>
      {cron.input.command && cron.lastTick && <NotHired tick={cron.lastTick} agentName={agentName} />}
      <CronFacts cron={cron} agentName={agentName} />
      <section className={styles.history} aria-labelledby="ticks-title">
        <h2 id="ticks-title">Ticks</h2>
        {ticks.isLoading && <Skeleton label="Loading ticks" lines={5} />}
        {ticks.problem && !ticks.value && (
          <ErrorState message={ticks.problem.message} onRetry={ticks.refresh} />
        )}
        {ticks.value?.length === 0 && (
          <EmptyState title="It has not run yet">
            {cron.enabled
              ? "The first tick will show here by itself when its time comes. Run it now if you don't want to wait."
              : "It is paused. Resume it, or run it now."}
          </EmptyState>
        )}
        {ticks.value && ticks.value.length > 0 && <TickList ticks={ticks.value} timeZone={cron.timeZone} />}
      </section>
      <DeleteCronDialog
        cron={cron}
        agentName={agentName}
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
        onDeleted={() => router.push(CRONS_PATH)}
      />
    </PageFrame>
  );
}

interface CronFactsProps {
  readonly cron: Cron;
  readonly agentName: string;
}

function CronFacts({ cron, agentName }: CronFactsProps): ReactNode {
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
              {formatTime(cron.nextAt, timeZone, !dependsOnTimeZone(schedule))}
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
        {taskText(cron.input)}
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

interface TickListProps {
  readonly ticks: readonly Tick[];
  readonly timeZone: string;
}

/** Ticks of a cron, newest first, as points on a line. */
function TickList({ ticks, timeZone }: TickListProps): ReactNode {
  return (
    <ol className={styles.ticks} aria-label="Ticks, newest first">
      {ticks.map((tick) => (
        <TickItem key={tick.id} tick={tick} timeZone={timeZone} />
      ))}
    </ol>
  );
}

function TickItem({ tick, timeZone }: { readonly tick: Tick; readonly timeZone: string }): ReactNode {
  const { status, words } = tickText(tick);
  const isLive = status === "running";
  return (
    <li className={styles.tick} data-status={status}>
      <span className={styles.dot}>
        <StatusDot status={status} />
      </span>
      <span className={styles.time}>{formatTime(tick.scheduledAt, timeZone, true)}</span>
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
