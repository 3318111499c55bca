import { keepPreviousData, useMutation } from "@tanstack/react-query";
import { type ThreadName, threadPath } from "@throughline/agent-client";
import * as z from "zod/mini";
import { keys, polled, type Resource, useResource } from "./query";
import { askService, orIfMissing } from "./request";

export const runSchema = z.object({
  runId: z.string(),
  status: z.enum(["queued", "running", "success", "interrupted", "cancelled", "error", "lost"]),
  startedBy: z.object({
    kind: z.enum(["client", "cron", "foreign"]),
    id: z.optional(z.string()),
    command: z.optional(z.string()),
    /** Subject that started the run, where that was a person. */
    person: z.optional(z.string()),
  }),
  work: z.enum(["graph", "foreign", "reconcile"]),
  /** `null`: the graph's own model. */
  model: z.nullable(z.string()),
  /** `null`: nothing was metered, or the caller may not see it. */
  cost: z.nullable(z.object({ costUsd: z.number(), unpriced: z.number() })),
  attempt: z.number(),
  createdAt: z.string(),
  endedAt: z.nullable(z.string()),
});
const runsSchema = z.object({ runs: z.array(runSchema) });

/** A run as the service lists it. */
export type Run = Readonly<z.output<typeof runSchema>>;

const EVERY_MS = 5_000;

/** Requests a thread's runs, newest first; none where the thread does not exist yet. */
export function useRuns(thread: ThreadName): Resource<readonly Run[]> {
  return useResource({
    queryKey: keys.runs(thread),
    queryFn: ({ signal }) => readRuns(thread, signal),
    ...polled(EVERY_MS),
  });
}

async function readRuns(thread: ThreadName, signal: AbortSignal): Promise<readonly Run[]> {
  const response = askService(threadPath(thread, "/runs", { limit: "100" }), runsSchema, { signal });
  return (await orIfMissing(response, { runs: [] })).runs;
}

/** Returns the starter of a run. No request while `runId` is `undefined`; one for all callers per `newest` run of the thread. */
export function useRunStarter(
  thread: ThreadName,
  runId: string | undefined,
  newest: string | undefined,
): Run["startedBy"] | undefined {
  const { value } = useResource({
    queryKey: [...keys.runs(thread), newest],
    queryFn: ({ signal }) => readRuns(thread, signal),
    enabled: runId !== undefined && newest !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
  return value?.find((run) => run.runId === runId)?.startedBy;
}

const startedSchema = z.object({ runId: z.string() });

/** Runs the thread again from before an assistant's message and returns the run. That message and later ones are removed. */
export function useRegenerate(thread: ThreadName) {
  return useRunAgain((messageId: string) => start(thread, "/regenerate", { messageId }));
}

/** Retries the step that failed last and returns the run. */
export function useRetry(thread: ThreadName) {
  return useRunAgain(() => start(thread, "/retry", {}));
}

function useRunAgain<Input = void>(mutationFn: (input: Input) => Promise<string>) {
  return useMutation({ mutationFn }).mutateAsync;
}

async function start(thread: ThreadName, route: string, body: object): Promise<string> {
  return (await askService(threadPath(thread, route), startedSchema, { method: "POST", body })).runId;
}
