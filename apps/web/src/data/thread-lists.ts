"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { threadPath } from "@throughline/agent-client";
import * as z from "zod/mini";
import { keys, polled, type Resource, useResource } from "./query";
import { askService, segment } from "./request";

export const threadRowSchema = z.object({
  threadName: z.string(),
  agentId: z.string(),
  /** `account`: shared by the account. Absent: the caller's own. */
  visibility: z.pipe(
    z.optional(z.enum(["private", "account"])),
    z.transform((value) => (value === "account" ? value : undefined)),
  ),
  title: z.nullable(z.string()),
  archived: z.boolean(),
  status: z.enum(["idle", "running", "waiting", "error"]),
  lastActivityAt: z.pipe(z.string(), z.transform(Date.parse)).check(z.refine(Number.isFinite)),
});
const threadPageSchema = z.object({ threads: z.array(threadRowSchema), next: z.nullable(z.string()) });

/** A thread as lists show it. */
export type ThreadRow = Readonly<z.output<typeof threadRowSchema>>;

/** Some threads, newest activity first. */
export interface ThreadPage {
  readonly threads: readonly ThreadRow[];
  /** Cursor of the next page; `null`: there is none. */
  readonly next: string | null;
}

export interface ThreadQuery {
  /** Includes the account's threads; for callers who have private ones. */
  readonly withShared?: boolean | undefined;
  readonly search?: string;
  readonly archived?: boolean;
  readonly limit: number;
  /** `next` of the page before. */
  readonly after?: string | undefined;
}

/** Reads a page of threads, newest activity first. */
async function readThreads(
  agentId: string,
  { withShared, search, archived, limit, after }: ThreadQuery,
  signal: AbortSignal,
): Promise<ThreadPage> {
  const query = new URLSearchParams({ limit: String(limit) });
  if (withShared) query.set("visibility", "all");
  if (search) query.set("search", search);
  if (archived) query.set("archived", "true");
  if (after) query.set("after", after);
  const page = await askService(`/agents/${segment(agentId)}/threads?${query}`, threadPageSchema, { signal });
  if (withShared) return page;
  return { ...page, threads: page.threads.map((row) => ({ ...row, visibility: undefined })) };
}

/** Reads one page at a time, for lists that grow. */
export function usePageReader(agentId: string, query: Omit<ThreadQuery, "limit" | "after">) {
  return (after: string | undefined, limit: number, signal: AbortSignal): Promise<ThreadPage> =>
    readThreads(agentId, { ...query, limit, after }, signal);
}

const SEARCH_EVERY_MS = 10_000;

/** Requests the threads of one agent that match a search. `undefined` query: no request. */
export function useThreadSearch(agentId: string, query: ThreadQuery | undefined): Resource<ThreadPage> {
  return useResource({
    queryKey: keys.threadSearch([agentId], query ?? {}),
    queryFn: ({ signal }) => readThreads(agentId, query ?? { limit: 0 }, signal),
    enabled: query !== undefined,
    ...polled(SEARCH_EVERY_MS),
  });
}

export interface AgentThreads {
  /** The newest threads. */
  readonly page: ThreadPage;
  /** Threads that wait for a person, where the page is not the whole list. */
  readonly waiting: readonly ThreadRow[];
}

/** Activity of every agent. Plain data, so that unchanged parts retain their identity. */
export interface ActivityData {
  readonly threads: Readonly<Record<string, AgentThreads>>;
  /** Open interrupts of all agents. */
  readonly waiting: Waiting;
  /** Time of each agent's next cron tick. */
  readonly ticks: Readonly<Record<string, number>>;
}

const ACTIVITY_EVERY_MS = 10_000;
const ROWS = 30;

const nextTicksSchema = z.object({
  crons: z.array(z.object({ agent: z.string(), enabled: z.boolean(), nextAt: z.nullable(z.string()) })),
});

/** Query for the activity of all agents. `undefined` ids: the agents are not known yet, so no request. */
export function activityQuery(agentIds: readonly string[] | undefined, withShared: boolean | undefined) {
  return {
    queryKey: keys.activity(agentIds, withShared),
    queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
      readActivity(agentIds ?? [], withShared, signal),
    enabled: agentIds !== undefined,
    ...polled(ACTIVITY_EVERY_MS),
  };
}

async function readActivity(
  agentIds: readonly string[],
  withShared: boolean | undefined,
  signal: AbortSignal,
): Promise<ActivityData> {
  const [{ crons }, waiting, ...pages] = await Promise.all([
    askService("/crons?limit=100", nextTicksSchema, { signal }),
    readWaiting(withShared, signal),
    ...agentIds.map(
      async (agentId) => [agentId, await readThreads(agentId, { withShared, limit: ROWS }, signal)] as const,
    ),
  ]);
  const ticks: Record<string, number> = {};
  for (const { agent, enabled, nextAt } of crons) {
    if (!enabled || nextAt === null) continue;
    const at = Date.parse(nextAt);
    ticks[agent] = Math.min(at, ticks[agent] ?? at);
  }
  const threads = pages.map(
    ([agentId, page]) => [agentId, { page, waiting: belowPage(agentId, page, waiting) }] as const,
  );
  return { threads: Object.fromEntries(threads), waiting, ticks };
}

/** Rows of an agent's waiting threads, which must be visible however old they are. */
function belowPage(agentId: string, page: ThreadPage, { questions }: Waiting): readonly ThreadRow[] {
  if (page.next === null) return [];
  const own = questions.filter((question) => question.agentId === agentId).map(waitingRow);
  // A thread may have several open interrupts.
  return [...new Map(own.map((row) => [`${row.visibility} ${row.threadName}`, row])).values()];
}

function waitingRow({ agentId, threadName, visibility, title, askedAt }: WaitingInterrupt): ThreadRow {
  return {
    agentId,
    threadName,
    visibility,
    title,
    archived: false,
    status: "waiting",
    lastActivityAt: askedAt,
  };
}

type Change = { readonly title: string | null } | { readonly archived: boolean };

/** Renames, archives or restores a thread. */
export function useChangeThread() {
  return useThreadMutation(({ row, change }: { readonly row: ThreadRow; readonly change: Change }) =>
    askService(pathOf(row), z.unknown(), { method: "PATCH", body: change }),
  );
}

export function useDeleteThread() {
  return useThreadMutation((row: ThreadRow) => askService(pathOf(row), z.unknown(), { method: "DELETE" }));
}

function useThreadMutation<Input>(mutationFn: (input: Input) => Promise<unknown>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn,
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: keys.threads });
      void queries.invalidateQueries({ queryKey: ["thread"] });
    },
  }).mutateAsync;
}

function pathOf({ agentId, threadName, visibility }: ThreadRow): string {
  return threadPath({ agentId, threadId: threadName, visibility });
}

const waitingSchema = z.object({
  agentId: z.string(),
  threadName: z.string(),
  visibility: z.pipe(
    z.enum(["private", "account"]),
    z.transform((value) => (value === "account" ? value : undefined)),
  ),
  title: z.nullable(z.string()),
  runId: z.string(),
  askedAt: z.pipe(z.string(), z.transform(Date.parse)).check(z.refine(Number.isFinite)),
  /** `null`: the graph pauses before a node and asks nothing. */
  interrupt: z.nullable(
    z.object({
      interrupt_id: z.string(),
      value: z.json(),
      response_schema: z.optional(z.record(z.string(), z.json())),
    }),
  ),
});
const waitingPageSchema = z.object({ questions: z.array(waitingSchema), next: z.nullable(z.string()) });

/** An open interrupt of any agent. */
export type WaitingInterrupt = Readonly<z.output<typeof waitingSchema>>;

/** Open interrupts that wait for a person, newest first. */
export interface Waiting {
  readonly questions: readonly WaitingInterrupt[];
  /** Whether there are older ones. */
  readonly hasMore: boolean;
}

/** Largest page that the service returns. */
export const LISTED_THREADS = 100;

/** Reads the open interrupts of all agents in one request. Without `withShared`, threads count as the caller's own, as in lists. */
async function readWaiting(withShared: boolean | undefined, signal: AbortSignal): Promise<Waiting> {
  const page = await askService(`/waiting?limit=${LISTED_THREADS}`, waitingPageSchema, { signal });
  const questions = withShared
    ? page.questions
    : page.questions.map((row) => ({ ...row, visibility: undefined }));
  return { questions, hasMore: page.next !== null };
}
