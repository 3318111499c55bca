"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import * as z from "zod/mini";
import { keys, polled, type Resource, useResource } from "./query";
import { askService, segment } from "./request";

const jsonObject = z.record(z.string(), z.json());

const outcomeSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("pending") }),
  z.object({ kind: z.literal("started"), runId: z.string() }),
  z.object({ kind: z.literal("skipped"), reason: z.enum(["busy", "interrupt_pending"]) }),
  z.object({ kind: z.literal("failed"), code: z.string(), message: z.string() }),
  z.object({ kind: z.literal("missed") }),
]);

const tickSchema = z.object({
  id: z.string(),
  scheduledAt: z.string(),
  claimedAt: z.string(),
  agent: z.string(),
  threadName: z.string(),
  missed: z.number(),
  outcome: outcomeSchema,
  runStatus: z.nullable(
    z.enum(["queued", "running", "success", "interrupted", "cancelled", "error", "lost"]),
  ),
});

const inputSchema = z.object({
  message: z.optional(z.string()),
  state: z.optional(jsonObject),
  command: z.optional(z.object({ name: z.string(), args: z.optional(jsonObject) })),
});

const cronSchema = z.object({
  id: z.string(),
  agent: z.string(),
  threadName: z.nullable(z.string()),
  schedule: z.string(),
  timeZone: z.string(),
  input: inputSchema,
  model: z.nullable(z.string()),
  overlap: z.enum(["skip", "enqueue"]),
  missed: z.enum(["skip", "run_once"]),
  jitterMs: z.number(),
  enabled: z.boolean(),
  nextAt: z.nullable(z.string()),
  lastTick: z.nullable(tickSchema),
  createdAt: z.string(),
});

/** A cron as the service lists it. */
export type Cron = Readonly<z.output<typeof cronSchema>>;
export type CronInput = Readonly<z.output<typeof inputSchema>>;
export type Tick = Readonly<z.output<typeof tickSchema>>;

/** The settings of a cron that a person chooses. */
export interface CronRequest {
  readonly agent: string;
  readonly threadName: string | null;
  readonly schedule: string;
  readonly timeZone: string;
  readonly input: CronInput;
  readonly overlap: Cron["overlap"];
  readonly missed: Cron["missed"];
}

const LIMIT = 100;
const LIST_EVERY_MS = 3_000;
const CRON_EVERY_MS = 2_000;

const cronPageSchema = z.object({ crons: z.array(cronSchema), next: z.nullable(z.string()) });
const tickPageSchema = z.object({ ticks: z.array(tickSchema) });
const timesSchema = z.object({ times: z.array(z.string()) });

/** Requests every cron of the account. */
export function useCrons(): Resource<readonly Cron[]> {
  return useResource({
    queryKey: keys.crons,
    queryFn: ({ signal }) => readCrons(signal),
    ...polled(LIST_EVERY_MS),
  });
}

async function readCrons(signal: AbortSignal): Promise<readonly Cron[]> {
  const crons: Cron[] = [];
  for (let after: string | null = ""; after !== null; ) {
    const query: string = after === "" ? "" : `&after=${segment(after)}`;
    const page: z.output<typeof cronPageSchema> = await askService(
      `/crons?limit=${LIMIT}${query}`,
      cronPageSchema,
      { signal },
    );
    crons.push(...page.crons);
    after = page.next;
  }
  return crons;
}

export function useCron(id: string): Resource<Cron> {
  return useResource({
    queryKey: keys.cron(id),
    queryFn: ({ signal }) => askService(`/crons/${segment(id)}`, cronSchema, { signal }),
    ...polled(CRON_EVERY_MS),
  });
}

/** Requests the newest ticks; the service stores as many. */
export function useTicks(id: string): Resource<readonly Tick[]> {
  return useResource({
    queryKey: keys.ticks(id),
    queryFn: async ({ signal }): Promise<readonly Tick[]> =>
      (await askService(`/crons/${segment(id)}/ticks?limit=${LIMIT}`, tickPageSchema, { signal })).ticks,
    ...polled(CRON_EVERY_MS),
  });
}

/** Requests the next times of a schedule. No request for an empty one. */
export function useCronPreview(schedule: string, timeZone: string): Resource<readonly string[]> {
  return useResource({
    queryKey: keys.cronPreview(schedule, timeZone),
    queryFn: async ({ signal }): Promise<readonly string[]> => {
      const body = { schedule, timeZone, count: 5 };
      return (await askService("/crons/preview", timesSchema, { method: "POST", body, signal })).times;
    },
    enabled: schedule !== "",
  });
}

export function useCreateCron() {
  return useCronMutation((request: CronRequest) =>
    askService("/crons", cronSchema, { method: "POST", body: request }),
  );
}

export function useChangeCron(id: string) {
  return useCronMutation((request: CronRequest) =>
    askService(`/crons/${segment(id)}`, cronSchema, { method: "PATCH", body: request }),
  );
}

export function useSwitchCron(id: string) {
  return useCronMutation((action: "pause" | "resume") =>
    askService(`/crons/${segment(id)}/${action}`, cronSchema, { method: "POST", body: {} }),
  );
}

export function useRunCron(id: string) {
  return useCronMutation<void, Tick>(() =>
    askService(`/crons/${segment(id)}/run`, tickSchema, { method: "POST", body: {} }),
  );
}

export function useDeleteCron(id: string) {
  return useCronMutation<void, undefined>(() =>
    askService(`/crons/${segment(id)}`, z.undefined(), { method: "DELETE" }),
  );
}

/** Mutates crons and refetches them, also after a failure: the shown data may be older than its reason. */
function useCronMutation<Input, Output>(mutationFn: (input: Input) => Promise<Output>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn,
    onSettled: () => void queries.invalidateQueries({ queryKey: keys.crons }),
  }).mutateAsync;
}
