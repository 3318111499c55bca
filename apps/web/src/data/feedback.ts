"use client";

import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type CallerInfo, type ThreadName, threadCall } from "@throughline/agent-client";
import { useCallback } from "react";
import * as z from "zod/mini";
import { keys } from "./query";
import { askService, orIfMissing } from "./request";

const feedbackSchema = z.object({
  messageId: z.string(),
  value: z.enum(["up", "down"]),
  note: z.nullable(z.string()),
  /** Who gave it; `null`: the account itself. */
  subject: z.nullable(z.string()),
});
const ownFeedbackPageSchema = z.object({ feedback: z.array(feedbackSchema), next: z.nullable(z.string()) });
type Row = z.output<typeof feedbackSchema>;

/** What a person thinks of a message. */
export type Feedback = Readonly<Omit<Row, "subject">>;

const OWN_FEEDBACK_PAGE = "100";
const FRESH_MS = 60_000;

/**
 * What the caller thinks of a message. Asked once for all messages of the thread; renders for this one alone. `subject`: who
 * the caller is, `undefined` until that is known.
 */
export function useOwnFeedback(
  thread: ThreadName,
  messageId: string,
  subject: CallerInfo["subject"] | undefined,
): Feedback | undefined {
  const select = useCallback((own: ReadonlyMap<string, Feedback>) => own.get(messageId), [messageId]);
  const { data } = useQuery({
    queryKey: [...keys.feedback(thread), subject],
    queryFn: async ({ signal }) => {
      const rows = await readAll(thread, signal);
      return new Map(rows.filter((row) => row.subject === subject).map((row) => [row.messageId, row]));
    },
    enabled: subject !== undefined,
    select,
    // Each message that is drawn would ask again.
    staleTime: FRESH_MS,
  });
  return data;
}

async function readAll(thread: ThreadName, signal: AbortSignal): Promise<readonly Row[]> {
  const rows: Row[] = [];
  let after: string | null = null;
  do {
    const query: Record<string, string> = { limit: OWN_FEEDBACK_PAGE, ...(after !== null && { after }) };
    const asked = askService(threadCall(thread, "/feedback", query), ownFeedbackPageSchema, { signal });
    const page: z.output<typeof ownFeedbackPageSchema> = await orIfMissing(asked, {
      feedback: [],
      next: null,
    });
    rows.push(...page.feedback);
    after = page.next;
  } while (after !== null);
  return rows;
}

interface Given extends Omit<Feedback, "note"> {
  readonly note?: string | undefined;
  readonly runId?: string | undefined;
}

/** Replaces what the caller said of the message before. */
export function useGiveFeedback(thread: ThreadName) {
  return useFeedbackMutation(thread, (given: Given) =>
    askService(threadCall(thread, "/feedback"), z.unknown(), { method: "PUT", body: given }),
  );
}

export function useTakeBackFeedback(thread: ThreadName) {
  return useFeedbackMutation(thread, (messageId: string) => {
    const path = threadCall(thread, "/feedback", { messageId });
    return orIfMissing(askService(path, z.unknown(), { method: "DELETE" }), undefined);
  });
}

/** Done when the page has what the service keeps now. */
function useFeedbackMutation<Input>(thread: ThreadName, mutationFn: (input: Input) => Promise<unknown>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn,
    onSuccess: () => queries.invalidateQueries({ queryKey: keys.feedback(thread) }),
  }).mutateAsync;
}

const rowSchema = z.object({
  agentId: z.string(),
  threadName: z.string(),
  visibility: z.enum(["private", "account"]),
  messageId: z.string(),
  value: z.enum(["up", "down"]),
  note: z.nullable(z.string()),
  /** Who gave it; `null`: the account itself. */
  subject: z.nullable(z.string()),
  updatedAt: z.string(),
});
const pageSchema = z.object({ feedback: z.array(rowSchema), next: z.nullable(z.string()) });

export type FeedbackRow = Readonly<z.output<typeof rowSchema>>;

export interface FeedbackFilter {
  readonly agentId?: string;
  readonly value?: FeedbackRow["value"];
}

const PAGE = "50";

/** What people think of answers, page by page, what was changed last first: everyone's for an admin, else one's own. */
export function useFeedbackList(filter: FeedbackFilter, isAllowed: boolean) {
  const { data, error, isLoading, hasNextPage, fetchNextPage, refetch } = useInfiniteQuery({
    queryKey: keys.feedbackList(filter),
    queryFn: ({ pageParam, signal }) => {
      const query = new URLSearchParams({ limit: PAGE, ...filter });
      if (pageParam !== null) query.set("after", pageParam);
      return askService(`/feedback?${query}`, pageSchema, { signal });
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    enabled: isAllowed,
  });
  return {
    rows: data?.pages.flatMap((page): readonly FeedbackRow[] => page.feedback),
    problem: error ?? undefined,
    isLoading,
    hasMore: hasNextPage,
    more: () => void fetchNextPage(),
    refresh: () => void refetch(),
  };
}
