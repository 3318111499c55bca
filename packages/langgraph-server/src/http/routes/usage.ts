import { subjectSchema, ThroughlineError } from "@throughline/ai-core";
import {
  periodEnd,
  periodStart,
  readStatement,
  type UnitList,
  USAGE_GROUPS,
  type UsageQuery,
  type UsageRow,
  type UsageUnit,
  usageCsv,
} from "@throughline/billing";
import type { RunRegistry } from "@throughline/thread-log";
import { z } from "zod";
import type { ServiceBilling } from "../../accounts/billing.js";
import { decodePageCursor, encodePageCursor, unknownPage } from "../../threads/paging.js";
import { toReadableStream } from "../file-transfer.js";
import { nextSchema, pageSchema } from "../paging.js";
import { type App, type AuthorizedRequest, parseQuery } from "../request.js";
import { spendScopeOf } from "../request-scope.js";
import type { ActionRoute } from "../route.js";
import {
  shownStatementSchema,
  shownUnbilledRunSchema,
  shownUnitSchema,
  shownUsageRowSchema,
  showSpender,
  showStatement,
  showUnbilledRun,
  showUnit,
  showUsageRow,
  statementCsv,
  usageLines,
} from "./usage-schemas.js";

/** A UTC day, or a time. Years are bounded by what the database can compare. */
const momentSchema = z
  .string()
  .regex(
    /^2\d{3}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d{3})?Z)?$/,
    "must be as 2026-11-17 or 2026-11-17T09:00:00Z",
  )
  .refine(isOfCalendar, "is not in the calendar")
  .transform((text) => Date.parse(text));

const formatSchema = z.enum(["json", "csv"]).default("json");
const whoseSchema = subjectSchema
  .optional()
  .describe("One person's. Default: the whole account's for an admin, else the caller's own.");

const usageQuerySchema = z.object({
  from: momentSchema
    .optional()
    .describe("From this day (UTC) or moment on. Default: the first of this month."),
  to: momentSchema
    .optional()
    .describe("Up to the beginning of this day, or moment. Default: the end of this month."),
  by: z.enum(USAGE_GROUPS).default("day"),
  subject: whoseSchema,
  agentId: z.string().min(1).max(256).optional().describe("Of one agent only, also of one that is gone."),
  model: z.string().min(1).max(256).optional().describe("Answered by one model only."),
  format: formatSchema.describe("`csv` has all pages at once."),
  limit: pageSchema.shape.limit,
  after: z.string().min(1).max(4_000).optional().describe("`next` of the page before."),
});

const statementQuerySchema = z.object({
  month: z
    .string()
    .regex(/^2\d{3}-(?:0[1-9]|1[0-2])$/, "must be as 2026-11")
    .optional()
    .describe("In UTC. Default: this month."),
  subject: whoseSchema,
  format: formatSchema,
});

const unresolvedQuerySchema = z.object({ ...pageSchema.shape, subject: whoseSchema });

const PER_READ = 500;
const CSV = "text/csv";

/** `/usage`: the cost of model calls. */
export function usageRoutes(
  parts: App<{
    readonly billing: ServiceBilling;
    readonly registry: Pick<RunRegistry, "findInAccount">;
  }>,
): ActionRoute[] {
  const { service, clock } = parts;
  const { ledger } = service.billing;

  async function* csvPages(query: Omit<UsageQuery, "after" | "limit">): AsyncGenerator<Uint8Array> {
    const encoder = new TextEncoder();
    yield encoder.encode(usageCsv(query.by, []));
    let after: string | undefined;
    do {
      const page = await ledger.usage({ ...query, after, limit: PER_READ });
      if (page.rows.length > 0) yield encoder.encode(usageLines(query.by, page.rows));
      after = page.next;
    } while (after !== undefined);
  }

  /** Adds the run to each row. One that ended long ago may be known by its costs alone. */
  async function withRuns({ caller }: AuthorizedRequest, rows: readonly UsageRow[]) {
    const runs = await Promise.all(
      rows.map(({ key }) => service.registry.findInAccount(caller.billingAccountId, key)),
    );
    return rows.map((row, index) => {
      const run = runs[index];
      return { ...showUsageRow(row), run: run ? showSpender(run, caller.subject) : null };
    });
  }

  return [
    {
      method: "GET",
      path: "/usage",
      action: "see_spend",
      doc: {
        summary: "List what model calls used and cost",
        description: "By day, agent, model, person or run, in order of these.",
        tag: "spending",
        query: usageQuerySchema,
        response: {
          status: 200,
          description: "One row a group",
          schema: z.object({
            from: z.iso.datetime(),
            to: z.iso.datetime().describe("Exclusive."),
            by: z.enum(USAGE_GROUPS),
            subject: z.string().nullable().describe("null: of the whole account."),
            rows: z.array(shownUsageRowSchema),
            next: nextSchema,
          }),
          otherType: CSV,
        },
        errors: ["invalid_input"],
      },
      async handle(c, who) {
        const {
          subject: asked,
          format,
          after,
          limit,
          by,
          agentId,
          model,
          ...range
        } = parseQuery(c, usageQuerySchema);
        const subject = spendScopeOf(who, asked);
        const now = clock.now();
        const from = range.from ?? periodStart("month", now);
        const to = range.to ?? periodEnd("month", Math.max(now, from));
        if (to <= from) {
          throw new ThroughlineError("invalid_input", "to: must be later than from", {
            details: { field: "to" },
          });
        }
        const account = who.caller.billingAccountId;
        const query = { account, from, to, by, subject, graphId: agentId && graphIdOf(agentId), model };
        if (format === "csv")
          return c.body(toReadableStream(csvPages(query)), 200, csvHeaders(`usage-by-${by}`));
        const page = await ledger.usage({ ...query, after: after && parseKey(after), limit });
        return c.json({
          from: new Date(from).toISOString(),
          to: new Date(to).toISOString(),
          by,
          subject: subject ?? null,
          rows: by === "run" ? await withRuns(who, page.rows) : page.rows.map((row) => showUsageRow(row)),
          next: page.next === undefined ? null : formatKey(page.next),
        });
      },
    },
    {
      method: "GET",
      path: "/usage/statement",
      action: "see_spend",
      doc: {
        summary: "Read a month's statement",
        description:
          "The total, and the same by day, agent, model and person. As CSV one table, whose first column says by what a line is.",
        tag: "spending",
        query: statementQuerySchema,
        response: { status: 200, description: "The statement", schema: shownStatementSchema, otherType: CSV },
        errors: ["invalid_input"],
      },
      async handle(c, who) {
        const { subject: asked, format, ...query } = parseQuery(c, statementQuerySchema);
        const subject = spendScopeOf(who, asked);
        const now = clock.now();
        const month = query.month ?? new Date(now).toISOString().slice(0, 7);
        const ofSubject = { usage: (of: UsageQuery) => ledger.usage({ ...of, subject }) };
        const statement = await readStatement(ofSubject, {
          account: who.caller.billingAccountId,
          month,
          now,
        });
        if (format === "csv") return c.body(statementCsv(statement), 200, csvHeaders(`statement-${month}`));
        return c.json(showStatement(statement, subject));
      },
    },
    {
      method: "GET",
      path: "/usage/unresolved",
      action: "see_spend",
      doc: {
        summary: "List model calls without a price",
        description:
          "`in_doubt`: under way, or ended without a price that LiteLLM's log may still tell. `unresolved`: the log did not tell. A person's page may have fewer than `limit`, also none, before the last.",
        tag: "spending",
        query: unresolvedQuerySchema,
        response: {
          status: 200,
          description: "Oldest first",
          schema: z.object({ units: z.array(shownUnitSchema), next: nextSchema }),
        },
        errors: ["invalid_input"],
      },
      async handle(c, who) {
        const { subject: asked, after, limit } = parseQuery(c, unresolvedQuerySchema);
        const subject = spendScopeOf(who, asked);
        const cursor = after === undefined ? undefined : parseUnitCursor(after);
        const units = await openUnits(ledger, {
          account: who.caller.billingAccountId,
          after: cursor,
          limit: limit + 1,
        });
        const page = units.slice(0, limit);
        const last = page.at(-1);
        return c.json({
          units: page.filter((unit) => subject === undefined || unit.subject === subject).map(showUnit),
          next:
            units.length > limit && last ? encodePageCursor({ at: last.openedAt, id: last.unitId }) : null,
        });
      },
    },
    {
      method: "GET",
      path: "/usage/unbilled",
      action: "see_spend",
      doc: {
        summary: "List runs whose model calls LiteLLM's log has not shown",
        description:
          "Runs on a LangGraph server that made more calls than the ledger has. A page may have fewer than `limit`, also none, before the last.",
        tag: "spending",
        query: unresolvedQuerySchema,
        response: {
          status: 200,
          description: "Oldest first",
          schema: z.object({ runs: z.array(shownUnbilledRunSchema), next: nextSchema }),
        },
        errors: ["invalid_input"],
      },
      async handle(c, who) {
        const { subject: asked, after, limit } = parseQuery(c, unresolvedQuerySchema);
        const subject = spendScopeOf(who, asked);
        const cursor = after === undefined ? undefined : decodePageCursor(after);
        const runs = await ledger.listUnbilled({
          account: who.caller.billingAccountId,
          after: cursor && { endedAt: cursor.at, runId: cursor.id },
          limit: limit + 1,
        });
        const page = runs.slice(0, limit);
        const last = page.at(-1);
        return c.json({
          runs: page
            .filter((run) => run.missing > 0 && (subject === undefined || run.subject === subject))
            .map(showUnbilledRun),
          next: runs.length > limit && last ? encodePageCursor({ at: last.endedAt, id: last.runId }) : null,
        });
      },
    },
  ];
}

/** Names the agent of a charge; it need not exist any more. */
function graphIdOf(agentId: string): string {
  return agentId.includes(":") ? agentId : `langgraph:${agentId}`;
}

/** Whether a day exists: `Date.parse` reads the 31st of February as a day of March. */
function isOfCalendar(text: string): boolean {
  const at = Date.parse(text);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text.slice(0, 10));
}

/** Sorts both kinds of calls without a price into one order. */
async function openUnits(
  ledger: ServiceBilling["ledger"],
  query: Pick<UnitList, "account" | "after" | "limit">,
): Promise<readonly UsageUnit[]> {
  const lists = await Promise.all(
    (["in_doubt", "unresolved"] as const).map((state) => ledger.list({ ...query, state, olderThanMs: 0 })),
  );
  return lists
    .flat()
    .sort((a, b) => a.openedAt - b.openedAt || (a.unitId < b.unitId ? -1 : 1))
    .slice(0, query.limit);
}

function parseUnitCursor(token: string): NonNullable<UnitList["after"]> {
  const { at, id } = decodePageCursor(token);
  if (!z.guid().safeParse(id).success) throw unknownPage();
  return { openedAt: at, unitId: id };
}

/** A group's key may be empty, which no query parameter is. */
function formatKey(key: string): string {
  return Buffer.from(JSON.stringify(key)).toString("base64url");
}

function parseKey(token: string): string {
  try {
    const key: unknown = JSON.parse(Buffer.from(token, "base64url").toString());
    // PostgreSQL can't compare with a text that it can't store.
    if (typeof key === "string" && !key.includes("\0")) return key;
  } catch {}
  throw unknownPage();
}

function csvHeaders(name: string): Record<string, string> {
  return {
    "content-type": `${CSV}; charset=utf-8`,
    "content-disposition": `attachment; filename="${name}.csv"`,
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  };
}
