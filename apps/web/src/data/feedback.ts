"use client";

import { useInfiniteQuery } from "@tanstack/react-query";
import * as z from "zod/mini";
import { keys } from "./query";
import { askService } from "./request";

const rowSchema = z.object({
  agentId: z.string(),
  threadName: z.string(),
  visibility: z.enum(["private", "account"]),
  messageId: z.string(),
  value: z.enum(["up", "down"]),
  note: z.nullable(z.string()),
  /** Subject that gave it; `null`: the account itself. */
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

/** Requests feedback on answers, page by page, last changed first: everyone's for an admin, else the caller's own. */
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
