"use client";

import { createContext, type ReactNode, useContext, useMemo } from "react";
import * as z from "zod/mini";
import { useCaller } from "../console/caller";
import { useAgentCatalog } from "../console/use-agent-catalog";
import { askService } from "../service/ask-service";
import { useResource } from "../service/use-resource";
import { askThreads } from "./ask-threads";
import { joinRows, type ThreadPage } from "./merge-rows";
import type { SeenThreads } from "./seen-threads";
import type { ThreadRow } from "./thread-row";

/** What goes on with every agent, as lists tell it. */
export interface Activity {
  /** The newest, and all that wait for a person, newest first; `undefined` until the service has said. */
  rowsOf(agentId: string): readonly ThreadRow[] | undefined;
  /** The newest alone. */
  pageOf(agentId: string): ThreadPage | undefined;
  /** When its next cron tick is due. */
  nextTickOf(agentId: string): number | undefined;
  /** Which threads this account has seen; `undefined` while the page is still a server's. */
  readonly seen: SeenThreads | undefined;
  readonly problem: Error | undefined;
  refresh(): void;
}

const EVERY_MS = 10_000;
const ROWS = 30;

const cronsSchema = z.object({
  crons: z.array(z.object({ agent: z.string(), enabled: z.boolean(), nextAt: z.nullable(z.string()) })),
});

const ActivityContext = createContext<Activity | undefined>(undefined);

export function useActivity(): Activity {
  const activity = useContext(ActivityContext);
  if (!activity) throw new Error("useActivity() needs the console's layout above it.");
  return activity;
}

/** Asks for everybody, once for all who look. */
export function ActivityProvider(props: {
  readonly seen: SeenThreads | undefined;
  readonly children: ReactNode;
}): ReactNode {
  const { agents } = useAgentCatalog();
  const { isPerson } = useCaller();
  const ids = isPerson === undefined ? undefined : agents?.map(({ id }) => id);
  const { value, problem, refresh } = useResource(
    ids && JSON.stringify(ids),
    (signal) => ask(ids ?? [], isPerson, signal),
    {
      everyMs: EVERY_MS,
    },
  );
  const { seen } = props;
  const activity = useMemo(
    (): Activity => ({
      rowsOf: (agentId) => value?.threads.get(agentId)?.rows,
      pageOf: (agentId) => value?.threads.get(agentId)?.page,
      nextTickOf: (agentId) => value?.ticks.get(agentId),
      seen,
      problem,
      refresh,
    }),
    [value, seen, problem, refresh],
  );
  return <ActivityContext value={activity}>{props.children}</ActivityContext>;
}

async function ask(agentIds: readonly string[], withShared: boolean | undefined, signal: AbortSignal) {
  const [crons, ...threads] = await Promise.all([
    askService("/crons?limit=100", cronsSchema, { signal }),
    ...agentIds.map(async (agentId) => [agentId, await askNewest(agentId, withShared, signal)] as const),
  ]);
  const ticks = new Map<string, number>();
  for (const { agent, enabled, nextAt } of crons.crons) {
    if (!enabled || nextAt === null) continue;
    const at = Date.parse(nextAt);
    ticks.set(agent, Math.min(at, ticks.get(agent) ?? at));
  }
  return { threads: new Map(threads), ticks };
}

async function askNewest(agentId: string, withShared: boolean | undefined, signal: AbortSignal) {
  const page = await askThreads(agentId, { withShared, limit: ROWS }, signal);
  if (page.next === null) return { page, rows: page.threads };
  // However long ago it asked, what waits for a person must not be out of their sight.
  const waiting = await askThreads(agentId, { withShared, limit: ROWS, status: "waiting" }, signal);
  return { page, rows: joinRows(waiting.threads, page.threads) };
}
