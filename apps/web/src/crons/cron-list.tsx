"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { useCaller } from "../console/caller";
import { useAgentCatalog } from "../console/use-agent-catalog";
import { Button } from "../design/button";
import buttonStyles from "../design/button.module.css";
import { EmptyState } from "../design/empty-state";
import { Icon } from "../design/icon";
import { ListProblem } from "../design/list-problem";
import { PageFrame } from "../design/page-frame";
import { Skeleton } from "../design/skeleton";
import { useCrons } from "../service/queries/crons";
import styles from "./cron-list.module.css";
import { newCronPath } from "./cron-paths";
import { CronRow } from "./cron-row";

/** Every cron of the account. */
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
      {problem && <ListProblem message={problem.message} onRetry={refresh} />}
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
