import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { ann, openServiceScene, type ServiceScene } from "../testing/service-scene.js";
import { openTestPostgres, type TestPostgres } from "../testing/test-postgres.js";
import { threadAddress } from "../threads/thread-address.js";
import { newCronSchema } from "./cron-definition.js";

const MINUTE = 60_000;
const WEEK = 7 * 24 * 60 * MINUTE;
const TIMEOUT = 120_000;

/** A daily job, or one every few hours, by what a wall clock in the zone shows. */
interface Job {
  readonly zone: string;
  readonly schedule: string;
  readonly at?: string;
  readonly everyHours?: number;
}

const JOBS: readonly Job[] = [
  { zone: "Europe/Berlin", schedule: "30 2 * * *", at: "02:30" },
  { zone: "America/New_York", schedule: "30 2 * * *", at: "02:30" },
  { zone: "America/New_York", schedule: "30 1 * * *", at: "01:30" },
  { zone: "Europe/Berlin", schedule: "0 */12 * * *", everyHours: 12 },
];

/** Read off a wall clock minute by minute: on each date the first moment that is not before the job's time. */
function expectedTimes({ zone, at, everyHours }: Job, from: number): string[] {
  const wall = new Intl.DateTimeFormat("sv-SE", {
    timeZone: zone,
    dateStyle: "short",
    timeStyle: "short",
  });
  const found: string[] = [];
  const reading = (ms: number) => wall.format(ms).split(" ");
  // A date whose time was over before the week began is done.
  const done = new Set<string | undefined>();
  const [firstDate, firstTime = ""] = reading(from);
  if (at !== undefined && firstTime >= at) done.add(firstDate);
  for (let ms = from + MINUTE; ms <= from + WEEK; ms += MINUTE) {
    const [date, time = ""] = reading(ms);
    const isRhythm =
      everyHours !== undefined && time.endsWith(":00") && Number(time.slice(0, 2)) % everyHours === 0;
    const isDaily = at !== undefined && time >= at && !done.has(date);
    if (isDaily) done.add(date);
    if (isRhythm || isDaily) found.push(new Date(ms).toISOString());
  }
  return found;
}

describe("Two instances on one PostgreSQL, over a week", () => {
  let postgres: TestPostgres;
  let a: ServiceScene;
  let b: ServiceScene;
  let now = 0;

  beforeAll(async () => {
    vi.stubEnv("THROUGHLINE_OFFLINE_PACE_MS", "0");
    postgres = await openTestPostgres();
    const store = { kind: "postgres" as const, databaseUrl: postgres.url };
    const crons = { now: () => now };
    [a, b] = await Promise.all([
      openServiceScene({ store, crons, reapEveryMs: 250 }),
      openServiceScene({ store, crons, reapEveryMs: 250 }),
    ]);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await Promise.all([a.close(), b.close()]);
    await postgres.close();
  });

  it.each([
    ["clocks go forward in New York", "2026-03-05T00:00:00Z"],
    ["clocks go forward in Berlin", "2026-03-26T00:00:00Z"],
    ["clocks go back in Berlin", "2026-10-22T00:00:00Z"],
    ["clocks go back in New York", "2026-10-29T00:00:00Z"],
  ])("in which %s, run every tick once", { timeout: TIMEOUT }, async (_, start) => {
    const from = Date.parse(start);
    now = from;
    const made = await Promise.all(JOBS.map((job) => hireAndSchedule(job, start)));

    for (let due = await nextDue(); due <= from + WEEK; due = await nextDue()) {
      for (now of [due - 1, due]) await Promise.all([a.service.crons.look(), b.service.crons.look()]);
    }

    for (const { job, id, thread } of made) {
      const expected = expectedTimes(job, from);
      expect(expected.length).toBeGreaterThanOrEqual(7);
      await vi.waitFor(
        async () => {
          const runs = await b.service.registry.list(thread.ref, 200);
          expect(runs.filter(({ status }) => status !== "success")).toEqual([]);
        },
        { timeout: TIMEOUT, interval: 50 },
      );
      const { ticks } = await a.service.crons.ticks({ account: "acme" }, id, { limit: 100 });
      expect(ticks.map((tick) => tick.id).reverse()).toEqual(expected);
      expect(ticks.filter(({ outcome, missed }) => outcome.kind !== "started" || missed > 0)).toEqual([]);
      const runs = await a.service.registry.list(thread.ref, 200);
      const byCron = runs.filter(({ origin }) => origin.kind === "cron").reverse();
      expect(byCron.map(({ alias }) => alias)).toEqual(expected.map((time) => `cron:${id}:${time}`));
      expect(new Set(byCron.map(({ origin }) => origin.id))).toEqual(new Set([id]));
      // What the graph itself counted: no tick was worked on twice.
      const state = await a.service.state.getState({
        graphId: thread.graphId,
        threadId: thread.ref.threadId,
      });
      expect(z.object({ cycleCount: z.number() }).parse(state?.state).cycleCount).toBe(expected.length);
      await a.service.crons.remove({ account: "acme" }, id);
    }
    expect([...a.failures, ...b.failures]).toEqual([]);
  });

  async function nextDue(): Promise<number> {
    const { crons } = await a.service.crons.list({ account: "acme" }, { limit: 100 });
    return Math.min(...crons.map(({ cron }) => cron.dueAt ?? Number.POSITIVE_INFINITY));
  }

  async function hireAndSchedule(job: Job, week: string) {
    const threadName = `${job.zone} ${job.schedule} ${week}`;
    const thread = threadAddress(ann, "sentinel", threadName);
    await a.run(thread, { kind: "input", messages: [] }, { command: { name: "hire" } });
    const { cron } = await b.service.crons.create(
      ann,
      newCronSchema.parse({
        agent: "sentinel",
        threadName,
        schedule: job.schedule,
        timeZone: job.zone,
        input: { command: { name: "cycle", args: { durationMs: 0 } } },
        overlap: "enqueue",
      }),
    );
    return { job, id: cron.id, thread };
  }
});
