import * as z from "zod/mini";
import { askService, segment } from "../service/ask-service";
import { type Cron, type CronInput, cronSchema, type Tick, tickSchema } from "./cron";

/** What a person decides about a cron. */
export interface CronWish {
  readonly agent: string;
  readonly threadName: string | null;
  readonly schedule: string;
  readonly timeZone: string;
  readonly input: CronInput;
  readonly overlap: Cron["overlap"];
  readonly missed: Cron["missed"];
}

const LIMIT = 100;

export async function listCrons(signal: AbortSignal): Promise<readonly Cron[]> {
  const page = z.object({ crons: z.array(cronSchema), next: z.nullable(z.string()) });
  const crons: Cron[] = [];
  for (let after: string | null = ""; after !== null; ) {
    const query: string = after === "" ? "" : `&after=${segment(after)}`;
    const answer: z.output<typeof page> = await askService(`/crons?limit=${LIMIT}${query}`, page, { signal });
    crons.push(...answer.crons);
    after = answer.next;
  }
  return crons;
}

export function readCron(id: string, signal: AbortSignal): Promise<Cron> {
  return askService(`/crons/${segment(id)}`, cronSchema, { signal });
}

/** The newest; the service keeps as many. */
export async function listTicks(id: string, signal: AbortSignal): Promise<readonly Tick[]> {
  const page = z.object({ ticks: z.array(tickSchema) });
  return (await askService(`/crons/${segment(id)}/ticks?limit=${LIMIT}`, page, { signal })).ticks;
}

export function createCron(wish: CronWish): Promise<Cron> {
  return askService("/crons", cronSchema, { method: "POST", body: wish });
}

export function changeCron(id: string, wish: CronWish): Promise<Cron> {
  return askService(`/crons/${segment(id)}`, cronSchema, { method: "PATCH", body: wish });
}

export function switchCron(id: string, action: "pause" | "resume"): Promise<Cron> {
  return askService(`/crons/${segment(id)}/${action}`, cronSchema, { method: "POST", body: {} });
}

export function runCron(id: string): Promise<Tick> {
  return askService(`/crons/${segment(id)}/run`, tickSchema, { method: "POST", body: {} });
}

export async function deleteCron(id: string): Promise<void> {
  await askService(`/crons/${segment(id)}`, z.undefined(), { method: "DELETE" });
}

export async function previewTimes(
  schedule: string,
  timeZone: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const times = z.object({ times: z.array(z.string()) });
  const body = { schedule, timeZone, count: 5 };
  return (await askService("/crons/preview", times, { method: "POST", body, signal })).times;
}
