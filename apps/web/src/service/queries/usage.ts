"use client";

import * as z from "zod/mini";
import { askService, segment } from "../ask-service";
import { keys } from "./keys";
import { polled, type Resource, useResource } from "./resource";

const billSchema = z.object({
  calls: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  costUsd: z.number(),
  unpriced: z.number(),
});

const rowSchema = z.extend(billSchema, { key: z.string() });

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
export type Statement = Readonly<z.output<typeof statementSchema>>;
export type Group = keyof Statement["by"];
export type Budget = Readonly<z.output<typeof budgetSchema>>;

const EVERY_MS = 30_000;
const budgetsSchema = z.object({ budgets: z.array(budgetSchema) });

/** What a month's model calls cost. */
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

/** Where a browser finds the statement as a spreadsheet. */
export function statementCsvPath(month: string): string {
  return `/api/throughline/usage/statement?month=${segment(month)}&format=csv`;
}
