import { subjectSchema } from "@throughline/ai-core";
import { z } from "zod";
import { ACTIONS, type Action, isAction, REACHES, roleSchema } from "../../accounts/actions.js";
import { type AuditEntry, auditDetailsSchema } from "../../accounts/audit-entry.js";
import { actorOf } from "../../accounts/callers.js";
import { reachOf } from "../../accounts/policy.js";
import { decodePageCursor, encodePageCursor } from "../../threads/paging.js";
import { toReadableStream } from "../file-transfer.js";
import { nextSchema, pageSchema } from "../paging.js";
import { type App, parseQuery } from "../request.js";
import type { ActionRoute } from "../route.js";

const ACTION_NAMES: readonly Action[] = Object.keys(ACTIONS).filter(isAction);

const filterSchema = z.object({
  action: z.enum(ACTION_NAMES).optional(),
  subject: subjectSchema.optional().describe("Who did it."),
});
const listSchema = z.object({ ...pageSchema.shape, ...filterSchema.shape });

export const shownAuditEntrySchema = z.object({
  id: z.string(),
  at: z.iso.datetime().describe("By the database's clock."),
  account: z.string(),
  subject: z.string().nullable(),
  action: z.enum(ACTION_NAMES),
  ...auditDetailsSchema.shape,
});

const PER_READ = 500;

/** `/audit`: the audit log of the caller's account. */
export function auditRoutes(parts: App): ActionRoute[] {
  const { audit } = parts.service;

  async function* lines(account: string, filter: z.output<typeof filterSchema>): AsyncGenerator<Uint8Array> {
    const encoder = new TextEncoder();
    let after: Parameters<typeof audit.list>[1]["after"];
    do {
      const page = await audit.list(account, { ...filter, order: "oldest", after, limit: PER_READ });
      if (page.entries.length > 0) {
        const text = page.entries.map((entry) => `${JSON.stringify(showEntry(entry))}\n`).join("");
        yield encoder.encode(text);
      }
      after = page.next;
    } while (after !== undefined);
  }

  return [
    {
      method: "GET",
      path: "/audit",
      action: "read_audit",
      doc: {
        summary: "List who did what in the account",
        description:
          "Answers, stops, deletions, changes of crons and budgets, exports, and everything that was refused to a role.",
        tag: "account",
        query: listSchema,
        response: {
          status: 200,
          description: "Newest first",
          schema: z.object({ entries: z.array(shownAuditEntrySchema), next: nextSchema }),
        },
        errors: ["invalid_input"],
      },
      async handle(c, who) {
        who.requireReach("everyone");
        const { after, ...query } = parseQuery(c, listSchema);
        const page = await audit.list(who.caller.billingAccountId, {
          ...query,
          order: "newest",
          after: after === undefined ? undefined : decodePageCursor(after),
        });
        return c.json({
          entries: page.entries.map(showEntry),
          next: page.next ? encodePageCursor(page.next) : null,
        });
      },
    },
    {
      method: "GET",
      path: "/audit/export",
      action: "read_audit",
      doc: {
        summary: "Read the whole audit record",
        tag: "account",
        query: filterSchema,
        response: {
          status: 200,
          description: "One entry a line as JSON, oldest first",
          contentType: "application/jsonl",
        },
        errors: ["invalid_input"],
      },
      async handle(c, who) {
        who.requireReach("everyone");
        const filter = parseQuery(c, filterSchema);
        return c.body(toReadableStream(lines(who.caller.billingAccountId, filter)), 200, {
          "content-type": "application/jsonl",
          "content-disposition": 'attachment; filename="audit.jsonl"',
          "cache-control": "no-store",
        });
      },
    },
  ];
}

function showEntry(entry: AuditEntry): z.output<typeof shownAuditEntrySchema> {
  return { ...entry, at: new Date(entry.at).toISOString(), subject: entry.subject ?? null };
}

const callerSchema = z.object({
  account: z.string(),
  subject: z.string().nullable().describe("null: no person, but the account itself."),
  role: roleSchema,
  actions: z
    .array(
      z.object({
        action: z.string(),
        does: z.string().describe("Completes “The role … may not …”."),
        reach: z
          .enum(REACHES)
          .nullable()
          .describe(
            "How far: what is the caller's alone, also what the account shares, also other people's. null: not at all.",
          ),
      }),
    )
    .describe("Every action there is."),
});

/** `GET /me`: the caller and what they may do, so that a client can show it before a request is refused. */
export function callerRoute(): ActionRoute {
  return {
    method: "GET",
    path: "/me",
    action: "read",
    doc: {
      summary: "Read who the caller is and what they may do",
      tag: "account",
      response: {
        status: 200,
        description: "The caller, as sign-in and policy see them",
        schema: callerSchema,
      },
      errors: [],
    },
    handle(c, { caller, credentials }) {
      const actor = actorOf(credentials);
      const body: z.output<typeof callerSchema> = {
        account: caller.billingAccountId,
        subject: caller.subject ?? null,
        role: actor.role,
        actions: Object.keys(ACTIONS)
          .filter(isAction)
          .map((action) => ({ action, does: ACTIONS[action].does, reach: reachOf(actor, action) ?? null })),
      };
      return c.json(body);
    },
  };
}
