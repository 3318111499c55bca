import { z } from "zod";
import { tickOutcomeSchema } from "../../crons/cron.js";
import {
  cronChangeSchema,
  cronDefinitionSchema,
  cronPreviewSchema,
  newCronSchema,
} from "../../crons/cron-definition.js";
import { type CronService, type CronWithTick, scopeOf, type TickWithRun } from "../../crons/cron-service.js";
import { nextSchema, pageSchema } from "../paging.js";
import { type App, parseBody, parseQuery, type RouteContext } from "../request.js";
import type { ActionRoute } from "../route.js";

const nothingSchema = z.strictObject({});

/** The routes of `/crons`. Crons belong to an account and a subject; no other caller finds them. */
export function cronRoutes(parts: App<{ readonly crons: CronService }>): ActionRoute[] {
  const { crons } = parts.service;
  const list: ActionRoute = {
    method: "GET",
    path: "/crons",
    action: "read",
    doc: {
      summary: "List crons",
      tag: "crons",
      query: pageSchema,
      response: {
        status: 200,
        description: "In order of creation",
        schema: z.object({ crons: z.array(shownCronSchema), next: nextSchema }),
      },
      errors: ["invalid_input"],
    },
    async handle(c, { caller }) {
      const page = await crons.list(scopeOf(caller), parseQuery(c, pageSchema));
      return c.json({ crons: page.crons.map(showCron), next: page.next ?? null });
    },
  };
  const create: ActionRoute = {
    method: "POST",
    path: "/crons",
    action: "schedule",
    doc: {
      summary: "Create a cron",
      description: "Its ticks are ordinary runs, charged to the last editor of the cron.",
      tag: "crons",
      body: newCronSchema,
      response: { status: 201, description: "The cron", schema: shownCronSchema },
      errors: ["invalid_input", "too_large", "rate_limited"],
    },
    async handle(c, who) {
      const shown = await crons.create(who.caller, await parseBody(who, newCronSchema));
      who.audit({ target: { cronId: shown.cron.id } });
      return c.json(showCron(shown), 201);
    },
  };
  const get: ActionRoute = {
    method: "GET",
    path: "/crons/:id",
    action: "read",
    doc: {
      summary: "Read a cron",
      tag: "crons",
      response: { status: 200, description: "The cron", schema: shownCronSchema },
      errors: ["not_found"],
    },
    async handle(c, { caller }) {
      return c.json(showCron(await crons.get(scopeOf(caller), idOf(c))));
    },
  };
  const change: ActionRoute = {
    method: "PATCH",
    path: "/crons/:id",
    action: "schedule",
    doc: {
      summary: "Change a cron",
      description: "Fields that are not named stay. Another schedule begins now.",
      tag: "crons",
      body: cronChangeSchema,
      response: { status: 200, description: "The cron as it is now", schema: shownCronSchema },
      errors: ["invalid_input", "not_found", "too_large"],
    },
    async handle(c, who) {
      who.audit({ target: { cronId: idOf(c) } });
      const changes = await parseBody(who, cronChangeSchema);
      return c.json(showCron(await crons.change(who.caller, idOf(c), changes)));
    },
  };
  const remove: ActionRoute = {
    method: "DELETE",
    path: "/crons/:id",
    action: "schedule",
    doc: {
      summary: "Delete a cron and its history",
      description: "Runs it started go on, and their threads stay.",
      tag: "crons",
      response: { status: 204, description: "It is gone" },
      errors: ["not_found"],
    },
    async handle(c, who) {
      who.audit({ target: { cronId: idOf(c) } });
      await crons.remove(scopeOf(who.caller), idOf(c));
      return c.body(null, 204);
    },
  };
  const run: ActionRoute = {
    method: "POST",
    path: "/crons/:id/run",
    action: "run",
    doc: {
      summary: "Run a cron now",
      description: "Also while it is paused. The schedule stays as it is.",
      tag: "crons",
      body: nothingSchema,
      response: { status: 202, description: "The tick, with its run", schema: shownTickSchema },
      errors: [
        "invalid_input",
        "not_found",
        "busy",
        "interrupt_pending",
        "rate_limited",
        "too_large",
        "model_not_allowed",
        "budget_exceeded",
        "models_unavailable",
      ],
    },
    async handle(c, who) {
      await parseBody(who, nothingSchema);
      return c.json(showTick(await crons.runNow(scopeOf(who.caller), idOf(c))), 202);
    },
  };
  const ticks: ActionRoute = {
    method: "GET",
    path: "/crons/:id/ticks",
    action: "read",
    doc: {
      summary: "List what a cron did",
      tag: "crons",
      query: pageSchema,
      response: {
        status: 200,
        description: "Newest first; the latest 100 are kept",
        schema: z.object({ ticks: z.array(shownTickSchema), next: nextSchema }),
      },
      errors: ["invalid_input", "not_found"],
    },
    async handle(c, { caller }) {
      const page = await crons.ticks(scopeOf(caller), idOf(c), parseQuery(c, pageSchema));
      return c.json({ ticks: page.ticks.map(showTick), next: page.next ?? null });
    },
  };
  const preview: ActionRoute = {
    method: "POST",
    path: "/crons/preview",
    action: "read",
    doc: {
      summary: "Say when a schedule would run",
      tag: "crons",
      body: cronPreviewSchema,
      response: {
        status: 200,
        description: "The next times from now, without jitter",
        schema: z.object({ times: z.array(z.iso.datetime()) }),
      },
      errors: ["invalid_input", "too_large"],
    },
    async handle(c, who) {
      const times = await crons.preview(await parseBody(who, cronPreviewSchema));
      return c.json({ times: times.map(iso) });
    },
  };
  const switches = [switchRoute(crons, "pause"), switchRoute(crons, "resume")];
  // Fixed paths come before the one with a parameter.
  return [list, create, preview, get, change, remove, run, ...switches, ticks];
}

function switchRoute(crons: CronService, change: "pause" | "resume"): ActionRoute {
  return {
    method: "POST",
    path: `/crons/:id/${change}`,
    action: "schedule",
    doc: {
      summary: change === "pause" ? "Pause a cron" : "Resume a cron",
      description:
        change === "pause"
          ? "A run it started goes on."
          : "It goes on with the next time on its schedule; what the pause left out is not made up for.",
      tag: "crons",
      body: nothingSchema,
      response: { status: 200, description: "The cron as it is now", schema: shownCronSchema },
      errors: ["invalid_input", "not_found", "too_large"],
    },
    async handle(c, who) {
      who.audit({ target: { cronId: idOf(c) } });
      await parseBody(who, nothingSchema);
      return c.json(showCron(await crons.change(who.caller, idOf(c), { enabled: change === "resume" })));
    },
  };
}

function idOf(c: RouteContext): string {
  return c.req.param("id") ?? "";
}

const time = z.iso.datetime();
const RUN_STATUSES = ["queued", "running", "success", "interrupted", "cancelled", "error", "lost"] as const;

export const shownTickSchema = z.object({
  id: z.string(),
  scheduledAt: time,
  claimedAt: time,
  agent: z.string(),
  threadName: z.string(),
  missed: z.number().int().describe("Scheduled times that passed without a run, up to 100."),
  outcome: tickOutcomeSchema,
  runStatus: z
    .enum(RUN_STATUSES)
    .nullable()
    .describe("Of the run it started. null: it started none, or the run is gone."),
});

export const shownCronSchema = cronDefinitionSchema.extend({
  id: z.string(),
  threadName: z.string().nullable(),
  nextAt: time.nullable().describe("null while paused, and when no time is left."),
  lastTick: shownTickSchema.nullable(),
  createdAt: time,
  updatedAt: time,
});

function showTick(tick: TickWithRun): z.infer<typeof shownTickSchema> {
  const { cronId: _, attempt: __, scheduledAt, claimedAt, runStatus, ...rest } = tick;
  return {
    ...rest,
    scheduledAt: iso(scheduledAt),
    claimedAt: iso(claimedAt),
    runStatus: runStatus ?? null,
  };
}

function showCron({ cron, lastTick }: CronWithTick): z.infer<typeof shownCronSchema> {
  return {
    id: cron.id,
    ...cron.definition,
    nextAt: cron.nextAt === undefined ? null : iso(cron.nextAt),
    lastTick: lastTick ? showTick(lastTick) : null,
    createdAt: iso(cron.createdAt),
    updatedAt: iso(cron.updatedAt),
  };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
