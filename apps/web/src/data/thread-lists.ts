"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { threadCall } from "@throughline/agent-client";
import * as z from "zod/mini";
import { keys, polled, type Resource, useResource } from "./query";
import { askService, segment } from "./request";

const threadRowSchema = z.object({
  threadName: z.string(),
  agentId: z.string(),
  /** `account`: shared by the account. Absent: the caller's own. */
  visibility: z.pipe(
    z.optional(z.enum(["private", "account"])),
    z.transform((told) => (told === "account" ? told : undefined)),
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
  /** Where the page after it begins; `null`: there is none. */
  readonly next: string | null;
}

export interface ThreadQuery {
  /** Those of the account beside the caller's own; for callers who have threads of their own. */
  readonly withShared?: boolean | undefined;
  readonly search?: string;
  readonly archived?: boolean;
  readonly limit: number;
  /** `next` of the page before. */
  readonly after?: string | undefined;
}

/** Newest activity first. */
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

/** Threads of one agent that fit a search. `undefined`: nothing is searched for. */
export function useThreadSearch(agentId: string, query: ThreadQuery | undefined): Resource<ThreadPage> {
  return useResource({
    queryKey: keys.threadSearch([agentId], query ?? {}),
    queryFn: ({ signal }) => readThreads(agentId, query ?? { limit: 0 }, signal),
    enabled: query !== undefined,
    ...polled(SEARCH_EVERY_MS),
  });
}

export interface AgentThreads {
  /** The newest. */
  readonly page: ThreadPage;
  /** Those that wait for a person and are too old to be on the page. */
  readonly waiting: readonly ThreadRow[];
}

/** What goes on with every agent. Plain data, so that a part which did not change keeps its identity. */
export interface ActivityData {
  readonly threads: Readonly<Record<string, AgentThreads>>;
  /** Open questions of all agents. */
  readonly waiting: Waiting;
  /** When an agent's next cron tick is due. */
  readonly ticks: Readonly<Record<string, number>>;
}

const ACTIVITY_EVERY_MS = 10_000;
const ROWS = 30;

const nextTicksSchema = z.object({
  crons: z.array(z.object({ agent: z.string(), enabled: z.boolean(), nextAt: z.nullable(z.string()) })),
});

/** `undefined` ids: not known yet whom to ask. */
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

/** However long ago it asked, what waits for a person must not be out of their sight. */
function belowPage(agentId: string, page: ThreadPage, { questions }: Waiting): readonly ThreadRow[] {
  if (page.next === null) return [];
  const own = questions.filter((question) => question.agentId === agentId).map(waitingRow);
  // A thread may ask several things at once.
  return [...new Map(own.map((row) => [`${row.visibility} ${row.threadName}`, row])).values()];
}

function waitingRow({ agentId, threadName, visibility, title, askedAt }: WaitingQuestion): ThreadRow {
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
  return threadCall({ agentId, threadId: threadName, visibility });
}

const waitingSchema = z.object({
  agentId: z.string(),
  threadName: z.string(),
  visibility: z.pipe(
    z.enum(["private", "account"]),
    z.transform((told) => (told === "account" ? told : undefined)),
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

/** A question that waits for an answer, of any agent. */
export type WaitingQuestion = Readonly<z.output<typeof waitingSchema>>;

/** What waits for a person, newest first. */
export interface Waiting {
  readonly questions: readonly WaitingQuestion[];
  /** Older ones wait too. */
  readonly hasMore: boolean;
}

/** The most that the service lists at once. */
export const LISTED_THREADS = 100;

/** Open questions of all agents, in one request. Without `withShared`, threads are the caller's own, as in other lists. */
async function readWaiting(withShared: boolean | undefined, signal: AbortSignal): Promise<Waiting> {
  const page = await askService(`/waiting?limit=${LISTED_THREADS}`, waitingPageSchema, { signal });
  const questions = withShared
    ? page.questions
    : page.questions.map((row) => ({ ...row, visibility: undefined }));
  return { questions, hasMore: page.next !== null };
}

const foundSchema = z.extend(threadRowSchema, {
  /** The newest message with all the words; `null`: they are in the thread's title or name. */
  match: z.nullable(z.object({ messageId: z.string(), snippet: z.string() })),
});
const foundPageSchema = z.object({ threads: z.array(foundSchema) });

/** A thread that a search found. */
export type FoundThread = Readonly<z.output<typeof foundSchema>>;

/** Threads of all agents, by title and by what was said in them. Empty `search`: nothing is asked. What was found stays until more is. */
export function useFoundThreads(
  search: string,
  { isPerson, limit }: { readonly isPerson: boolean | undefined; readonly limit: number },
): Resource<readonly FoundThread[]> {
  return useResource({
    queryKey: keys.foundThreads(search),
    queryFn: async ({ signal }): Promise<readonly FoundThread[]> => {
      const query = new URLSearchParams({ search, limit: String(limit) });
      const { threads } = await askService(`/threads/search?${query}`, foundPageSchema, { signal });
      // A caller who is no person has the account's threads alone, and their addresses do not say so.
      return isPerson ? threads : threads.map((row) => ({ ...row, visibility: undefined }));
    },
    enabled: search !== "",
    placeholderData: (before: readonly FoundThread[] | undefined) => (search === "" ? undefined : before),
  });
}
