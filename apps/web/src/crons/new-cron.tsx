"use client";

import Link from "next/link";
import { useRouter, useSearchParams } from "next/navigation";
import type { ReactNode } from "react";
import { ErrorState, Skeleton } from "../agent-ui/primitives/status";
import { useAgentCatalog } from "../data/agents";
import { useCreateCron } from "../data/crons";
import { PageFrame } from "../shell/page-frame";
import { CRONS_PATH, cronPath } from "../shell/routes";
import { newDraft } from "./cron-draft";
import { CronForm } from "./cron-form";

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
      {problem && !agents && <ErrorState message={problem.message} onRetry={refresh} />}
      {!agents && !problem && <Skeleton label="Loading agents" lines={6} />}
      {agents && (
        <CronForm
          agents={agents}
          initial={beginning(agent?.id ?? "", agent?.commands ?? [], query.get("thread") ?? undefined)}
          action="Create cron"
          onSave={async (request) => router.push(cronPath((await createCron(request)).id))}
          onCancel={() => router.push(CRONS_PATH)}
        />
      )}
    </PageFrame>
  );
}

/** Initial draft. An agent that has commands starts with a command. */
function beginning(agent: string, commands: readonly string[], threadName: string | undefined) {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const draft = { ...newDraft(agent, timeZone), threadName };
  const command = commands.find((name) => name === "cycle") ?? commands[0];
  return command === undefined ? draft : { ...draft, does: "command" as const, command };
}
