"use client";

import Link from "next/link";
import { useRouter } from "next/navigation";
import { type ReactNode, useState } from "react";
import { Button, IconButton } from "../agent-ui/primitives/button";
import buttonStyles from "../agent-ui/primitives/button.module.css";
import { EmptyState } from "../agent-ui/primitives/empty-state";
import { Problem } from "../agent-ui/primitives/field";
import { Icon } from "../agent-ui/primitives/icon";
import { Menu } from "../agent-ui/primitives/menu";
import { ErrorState, Skeleton, type Status, StatusDot } from "../agent-ui/primitives/status";
import { RelativeTime } from "../agent-ui/primitives/time";
import { useAgentCatalog } from "../data/agents";
import { useCaller } from "../data/caller";
import { type Cron, useCrons } from "../data/crons";
import { PageFrame } from "../shell/page-frame";
import { cronPath, newCronPath, threadPath } from "../shell/routes";
import { DeleteCronDialog, useCronActions } from "./cron-actions";
import styles from "./cron-list.module.css";
import { capitalised, taskText, tickText } from "./cron-text";
import { scheduleText } from "./schedule";

/** Lists every cron of the account. */
export function CronList(): ReactNode {
  const { byId } = useAgentCatalog();
  const { value: crons, problem, isLoading, refresh } = useCrons();
  const reason = useCaller().refusal("schedule");
  const create =
    reason === undefined ? (
      <Link href={newCronPath()} className={`${buttonStyles.button} ${buttonStyles.primary}`}>
        <Icon name="plus" />
        New cron
      </Link>
    ) : (
      <Button look="primary" disabled title={reason}>
        New cron
      </Button>
    );
  const isEmpty = crons?.length === 0;
  return (
    <PageFrame title="Crons" lead="Agents that run on a schedule." {...(!isEmpty && { actions: create })}>
      {isLoading && <Skeleton label="Loading crons" lines={4} />}
      {problem && <ErrorState message={problem.message} onRetry={refresh} />}
      {isEmpty && (
        <EmptyState title="Nothing is scheduled yet" actions={create}>
          A cron gives an agent a message or a command at set times: every 10 seconds, on weekdays at nine,
          whatever cron syntax can say. Each tick is an ordinary run in a thread, so you can open it and
          watch. To try it, hire Sentinel on its page, then schedule its command <code>cycle</code>.
        </EmptyState>
      )}
      {crons && crons.length > 0 && (
        <ul className={styles.list} aria-label="Crons">
          {crons.map((cron) => (
            <CronRow key={cron.id} cron={cron} agentName={byId.get(cron.agent)?.name ?? cron.agent} />
          ))}
        </ul>
      )}
    </PageFrame>
  );
}

interface CronRowProps {
  readonly cron: Cron;
  readonly agentName: string;
}

function CronRow({ cron, agentName }: CronRowProps): ReactNode {
  const cronActions = useCronActions(cron);
  const { schedule } = cronActions.refusals;
  const [isDeleting, setDeleting] = useState(false);
  const router = useRouter();
  const words = capitalised(scheduleText(cron.schedule));
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
          {agentName} <span className={styles.quiet}>{taskText(cron.input)}</span>
        </p>
      </div>
      <dl className={styles.facts}>
        <div>
          <dt>Next</dt>
          <dd>{nextTickText(cron)}</dd>
        </div>
        <div>
          <dt>Last</dt>
          <dd>{cron.lastTick ? <LastTick tick={cron.lastTick} /> : "Not yet"}</dd>
        </div>
      </dl>
      <div className={styles.actions}>
        <IconButton
          icon="bolt"
          label={cronActions.refusals.run ?? `Run now: ${words}`}
          disabled={cronActions.isBusy || cronActions.refusals.run !== undefined}
          onClick={cronActions.runNow}
        />
        <IconButton
          icon={cron.enabled ? "pause" : "play"}
          label={schedule ?? `${cron.enabled ? "Pause" : "Resume"}: ${words}`}
          disabled={cronActions.isBusy || schedule !== undefined}
          onClick={cronActions.toggle}
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
      <Problem className={styles.problem}>{cronActions.problem}</Problem>
      <DeleteCronDialog
        cron={cron}
        agentName={agentName}
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
      />
    </li>
  );
}

function nextTickText({ enabled, nextAt }: Cron): ReactNode {
  if (!enabled) return "Paused";
  return nextAt === null ? "Never again" : <RelativeTime at={nextAt} />;
}

function LastTick({ tick }: { readonly tick: NonNullable<Cron["lastTick"]> }): ReactNode {
  const { status, words } = tickText(tick);
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

/** Status of a cron in the list: that of its last tick if it runs, failed or waits for a person, else whether more will come. */
function cronStatus({ enabled, lastTick }: Pick<Cron, "enabled" | "lastTick">): Status {
  const last = lastTick && tickText(lastTick).status;
  if (last === "running" || last === "error" || last === "waiting") return last;
  return enabled ? "scheduled" : "idle";
}
