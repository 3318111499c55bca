import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type CallerInfo, type ThreadName, threadPath } from "@throughline/agent-client";
import { useCallback } from "react";
import * as z from "zod/mini";
import { keys } from "./query";
import { askService, orIfMissing } from "./request";

export const feedbackSchema = z.object({
  messageId: z.string(),
  value: z.enum(["up", "down"]),
  note: z.nullable(z.string()),
  /** Subject that gave it; `null`: the account itself. */
  subject: z.nullable(z.string()),
});
const ownFeedbackPageSchema = z.object({
  feedback: z.array(feedbackSchema),
  next: z.nullable(z.string()),
});
export type Row = z.output<typeof feedbackSchema>;

/** A person's rating of a message. */
export type Feedback = Readonly<Omit<Row, "subject">>;

const OWN_FEEDBACK_PAGE = "100";
const FRESH_MS = 60_000;

/**
 * Returns the caller's feedback on a message. One request serves all messages of the thread; a change renders this one only.
 * `subject`: the caller's id, `undefined` until it is known.
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
    // Each message that is rendered would refetch.
    staleTime: FRESH_MS,
  });
  return data;
}

async function readAll(thread: ThreadName, signal: AbortSignal): Promise<readonly Row[]> {
  const rows: Row[] = [];
  let after: string | null = null;
  do {
    const query: Record<string, string> = { limit: OWN_FEEDBACK_PAGE, ...(after !== null && { after }) };
    const response = askService(threadPath(thread, "/feedback", query), ownFeedbackPageSchema, { signal });
    const page: z.output<typeof ownFeedbackPageSchema> = await orIfMissing(response, {
      feedback: [],
      next: null,
    });
    rows.push(...page.feedback);
    after = page.next;
  } while (after !== null);
  return rows;
}

export interface Given extends Omit<Feedback, "note"> {
  readonly note?: string | undefined;
  readonly runId?: string | undefined;
}

/** Replaces the caller's earlier feedback on the message. */
export function useGiveFeedback(thread: ThreadName) {
  return useFeedbackMutation(thread, (given: Given) =>
    askService(threadPath(thread, "/feedback"), z.unknown(), { method: "PUT", body: given }),
  );
}

export function useRemoveFeedback(thread: ThreadName) {
  return useFeedbackMutation(thread, (messageId: string) => {
    const path = threadPath(thread, "/feedback", { messageId });
    return orIfMissing(askService(path, z.unknown(), { method: "DELETE" }), undefined);
  });
}

/** Mutates feedback; resolves once the page has refetched what the service stores. */
function useFeedbackMutation<Input>(thread: ThreadName, mutationFn: (input: Input) => Promise<unknown>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn,
    onSuccess: () => queries.invalidateQueries({ queryKey: keys.feedback(thread) }),
  }).mutateAsync;
}
