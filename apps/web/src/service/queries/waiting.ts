import * as z from "zod/mini";
import { askService } from "../ask-service";

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
const pageSchema = z.object({ questions: z.array(waitingSchema), next: z.nullable(z.string()) });

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
export async function readWaiting(withShared: boolean | undefined, signal: AbortSignal): Promise<Waiting> {
  const page = await askService(`/waiting?limit=${LISTED_THREADS}`, pageSchema, { signal });
  const questions = withShared
    ? page.questions
    : page.questions.map((row) => ({ ...row, visibility: undefined }));
  return { questions, hasMore: page.next !== null };
}
