"use client";

import { useInfiniteQuery } from "@tanstack/react-query";
import * as z from "zod/mini";
import { keys, polled, type Resource, useResource } from "./query";
import { askService, segment } from "./request";

const billSchema = z.object({
  calls: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  costUsd: z.number(),
  unpriced: z.number(),
});

const rowSchema = z.extend(billSchema, { key: z.string() });

const runRowSchema = z.extend(rowSchema, {
  /** `null`: the run is no longer listed. */
  run: z.nullable(
    z.object({
      agentId: z.string(),
      /** `null`: another person's. */
      threadName: z.nullable(z.string()),
      visibility: z.enum(["private", "account"]),
      createdAt: z.string(),
    }),
  ),
});

const statementSchema = z.object({
  month: z.string(),
  subject: z.nullable(z.string()),
  isFinal: z.boolean(),
  total: billSchema,
  by: z.object({
    day: z.array(rowSchema),
    agent: z.array(rowSchema),
    model: z.array(rowSchema),
    person: z.array(rowSchema),
  }),
});

const budgetSchema = z.object({
  of: z.enum(["account", "person"]),
  period: z.enum(["day", "month"]),
  limitUsd: z.number(),
  spentUsd: z.number(),
  share: z.number(),
  standing: z.enum(["within", "near", "exceeded"]),
  renewedAt: z.string(),
});

export type UsageRow = Readonly<z.output<typeof rowSchema>>;
export type RunRow = Readonly<z.output<typeof runRowSchema>>;
export type Statement = Readonly<z.output<typeof statementSchema>>;
export type Group = keyof Statement["by"];
export type Budget = Readonly<z.output<typeof budgetSchema>>;

const EVERY_MS = 30_000;
const budgetsSchema = z.object({ budgets: z.array(budgetSchema) });

/** Requests the cost of a month's model calls. */
export function useStatement(month: string, isAllowed: boolean): Resource<Statement> {
  return useResource({
    queryKey: keys.statement(month),
    queryFn: ({ signal }) =>
      askService(`/usage/statement?month=${segment(month)}`, statementSchema, { signal }),
    enabled: isAllowed,
    ...polled(EVERY_MS),
  });
}

export function useBudgets(isAllowed: boolean): Resource<readonly Budget[]> {
  return useResource({
    queryKey: keys.budgets,
    queryFn: async ({ signal }): Promise<readonly Budget[]> =>
      (await askService("/budgets/me", budgetsSchema, { signal })).budgets,
    enabled: isAllowed,
    ...polled(EVERY_MS),
  });
}

/** URL of the statement as CSV. */
export function statementCsvPath(month: string): string {
  return `/api/throughline/usage/statement?month=${segment(month)}&format=csv`;
}

/** Filter of model calls: days in UTC, `to` exclusive. */
export interface UsageFilter {
  readonly from: string;
  readonly to: string;
  readonly agentId?: string;
  readonly model?: string;
  readonly subject?: string;
}

const DAYS_AT_MOST = 100;
const daysSchema = z.object({ rows: z.array(rowSchema) });
const runPageSchema = z.object({ rows: z.array(runRowSchema), next: z.nullable(z.string()) });

/** Requests the costs by day for each filter, in their order. */
export function useDaySeries(filters: readonly UsageFilter[]): Resource<readonly (readonly UsageRow[])[]> {
  return useResource({
    queryKey: keys.daySeries(filters),
    queryFn: ({ signal }): Promise<readonly (readonly UsageRow[])[]> =>
      Promise.all(
        filters.map(async (filter) => {
          const query = new URLSearchParams({ by: "day", limit: String(DAYS_AT_MOST), ...filter });
          return (await askService(`/usage?${query}`, daysSchema, { signal })).rows;
        }),
      ),
    ...polled(EVERY_MS),
  });
}

/** Requests the runs that match a filter, page by page. */
export function useSpendRuns(filter: UsageFilter) {
  const { data, error, isLoading, hasNextPage, fetchNextPage, refetch } = useInfiniteQuery({
    queryKey: keys.spendRuns(filter),
    queryFn: ({ pageParam, signal }) => {
      const query = new URLSearchParams({ by: "run", limit: "50", ...filter });
      if (pageParam !== null) query.set("after", pageParam);
      return askService(`/usage?${query}`, runPageSchema, { signal });
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  });
  return {
    rows: data?.pages.flatMap((page): readonly RunRow[] => page.rows),
    problem: error ?? undefined,
    isLoading,
    hasMore: hasNextPage,
    more: () => void fetchNextPage(),
    refresh: () => void refetch(),
  };
}

/** URL of the runs of a filter as CSV. */
export function runsCsvPath(filter: UsageFilter): string {
  return `/api/throughline/usage?${new URLSearchParams({ by: "run", format: "csv", ...filter })}`;
}
