"use client";

import Link from "next/link";
import { useRouter, useSearchParams } from "next/navigation";
import type { ReactNode } from "react";
import { useAgentCatalog } from "../console/use-agent-catalog";
import { ListProblem } from "../design/list-problem";
import { PageFrame } from "../design/page-frame";
import { Skeleton } from "../design/skeleton";
import { useCreateCron } from "../service/queries/crons";
import { CronForm } from "./cron-form";
import { CRONS_PATH, cronPath } from "./cron-paths";
import { newDraft } from "./cron-wish";

export function NewCron(): ReactNode {
  const { agents, problem, refresh } = useAgentCatalog();
  const createCron = useCreateCron();
  const router = useRouter();
  const query = useSearchParams();
  const wanted = query.get("agent");
  const agent =
    agents?.find(({ id, graphName }) => id === wanted || graphName === wanted) ??
    agents?.find(({ capabilities }) => capabilities.includes("background")) ??
    agents?.[0];
  return (
    <PageFrame title="New cron" above={<Link href={CRONS_PATH}>Crons</Link>}>
      {problem && !agents && <ListProblem message={problem.message} onRetry={refresh} />}
      {!agents && !problem && <Skeleton label="Loading agents" lines={6} />}
      {agents && (
        <CronForm
          agents={agents}
          initial={beginning(agent?.id ?? "", agent?.commands ?? [], query.get("thread") ?? undefined)}
          action="Create cron"
          onSave={async (wish) => router.push(cronPath((await createCron(wish)).id))}
          onCancel={() => router.push(CRONS_PATH)}
        />
      )}
    </PageFrame>
  );
}

/** An agent that has commands is made for being commanded. */
function beginning(agent: string, commands: readonly string[], threadName: string | undefined) {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const draft = { ...newDraft(agent, timeZone), threadName };
  const command = commands.find((name) => name === "cycle") ?? commands[0];
  return command === undefined ? draft : { ...draft, does: "command" as const, command };
}
