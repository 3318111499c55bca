"use client";

import Link from "next/link";
import { useRouter, useSearchParams } from "next/navigation";
import { type ReactNode, useState } from "react";
import { useAgentCatalog } from "../console/use-agent-catalog";
import { Button } from "../design/button";
import { EmptyState } from "../design/empty-state";
import { Icon } from "../design/icon";
import { ListProblem } from "../design/list-problem";
import { Menu } from "../design/menu";
import { PageFrame } from "../design/page-frame";
import { Problem } from "../design/problem";
import { Skeleton } from "../design/skeleton";
import { useChangeCron, useCron, useTicks } from "../service/queries/crons";
import { capitalised } from "./capitalised";
import styles from "./cron-detail.module.css";
import { CronFacts } from "./cron-facts";
import { CronForm } from "./cron-form";
import { CRONS_PATH, cronPath } from "./cron-paths";
import { draftOf } from "./cron-wish";
import { DeleteCronDialog } from "./delete-cron-dialog";
import { NotHired } from "./not-hired";
import { scheduleWords } from "./schedule-plan";
import { TickList } from "./tick-list";
import { useCronActions } from "./use-cron-actions";

/** One cron: what it is, what it did, and what can be done to it. */
export function CronDetail({ id }: { readonly id: string }): ReactNode {
  const { agents, byId } = useAgentCatalog();
  const router = useRouter();
  const isEditing = useSearchParams().has("edit");
  const { value: cron, problem, refresh } = useCron(id);
  const ticks = useTicks(id);
  const changeCron = useChangeCron(id);
  const [isDeleting, setDeleting] = useState(false);
  const deeds = useCronActions({ id, enabled: cron?.enabled ?? false });
  const above = <Link href={CRONS_PATH}>Crons</Link>;

  if (!cron) {
    return (
      <PageFrame title="Cron" above={above}>
        {problem ? (
          <ListProblem message={problem.message} onRetry={refresh} />
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
            onSave={async (wish) => {
              await changeCron(wish);
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
  const { run, schedule } = deeds.refusals;
  const actions = (
    <>
      <Button onClick={deeds.runNow} disabled={deeds.isBusy || run !== undefined} title={run}>
        <Icon name="bolt" />
        Run now
      </Button>
      <Button onClick={deeds.toggle} disabled={deeds.isBusy || schedule !== undefined} title={schedule}>
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
    <PageFrame title={capitalised(scheduleWords(cron.schedule))} above={above} actions={actions}>
      <Problem>{deeds.problem}</Problem>
      {cron.input.command && cron.lastTick && <NotHired tick={cron.lastTick} agentName={agentName} />}
      <CronFacts cron={cron} agentName={agentName} />
      <section className={styles.history} aria-labelledby="ticks-title">
        <h2 id="ticks-title">Ticks</h2>
        {ticks.isLoading && <Skeleton label="Loading ticks" lines={5} />}
        {ticks.problem && !ticks.value && (
          <ListProblem message={ticks.problem.message} onRetry={ticks.refresh} />
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
