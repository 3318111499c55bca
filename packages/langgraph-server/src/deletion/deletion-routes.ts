import { ThroughlineError } from "@throughline/ai-core";
import { z } from "zod";
import { accountScopeOf, accountScopeSchema } from "../http/account-scope.js";
import { queryOf } from "../http/checked-request.js";
import type { RouteParts, SignedIn } from "../http/ingress.js";
import type { ActionRoute } from "../http/route-table.js";
import { threadOf } from "../http/thread-of.js";
import type { Deletion } from "./deletion.js";
import type { DeletionService } from "./deletion-service.js";

/** Most are through by then; what takes longer goes on, and the receipt tells. */
const PATIENCE_MS = 5_000;

export const receiptSchema = z.object({
  id: z.string(),
  what: z.enum(["thread", "subject", "account"]),
  threadHash: z.string().nullable().describe("SHA-256 of the thread's id."),
  status: z
    .enum(["deleting", "deleted", "done"])
    .describe("deleting: nothing new begins. deleted: nothing is left. done: looked again after one lease."),
  askedBy: z.string(),
  requestedAt: z.iso.datetime(),
  deletedAt: z.iso.datetime().nullable(),
  finishedAt: z.iso.datetime().nullable(),
  counts: z.object({
    threads: z.number().int(),
    attachments: z.number().int(),
    storeItems: z.number().int(),
    crons: z.number().int(),
  }),
});

/** Deleting threads and accounts, and what is kept of that. */
export function deletionRoutes(parts: RouteParts<{ readonly deletions: DeletionService }>): ActionRoute[] {
  const { deletions } = parts.service;
  return [
    {
      method: "DELETE",
      path: "/agents/:agentId/threads/:threadName",
      action: "delete_thread",
      doc: {
        summary: "Delete a thread",
        description:
          "Its runs are stopped and its subscribers are told. Safe to repeat; a thread that is not there is deleted too.",
        tag: "threads",
        answer: { status: 202, description: "The receipt", schema: receiptSchema },
        errors: ["invalid_input", "not_found", "rate_limited"],
      },
      async handle(c, who) {
        const thread = await threadOf(c, parts, who);
        const { caller } = who;
        const begun = await deletions.deleteThread(thread, caller.subject ?? caller.billingAccountId);
        who.note({ target: { deletionId: begun.id } });
        return c.json(showReceipt(await deletions.untilDeleted(begun, PATIENCE_MS)), 202);
      },
    },
    {
      method: "DELETE",
      path: "/account/data",
      action: "delete_data",
      doc: {
        summary: "Delete everything of an account, or of one person in it",
        description:
          "Threads, files, crons and what graphs remember, in every store and upstream. Charges are kept, without content.",
        tag: "account",
        query: accountScopeSchema,
        answer: { status: 202, description: "The receipt", schema: receiptSchema },
        errors: ["invalid_input", "rate_limited"],
      },
      async handle(c, who) {
        const { account, subject } = accountScopeOf(who, queryOf(c, accountScopeSchema));
        const { caller } = who;
        const begun = await deletions.deleteAccount(
          account,
          subject,
          caller.subject ?? caller.billingAccountId,
        );
        who.note({ target: { deletionId: begun.id } });
        return c.json(showReceipt(begun), 202);
      },
    },
    {
      method: "GET",
      path: "/account/deletions/:id",
      action: "read",
      doc: {
        summary: "Read the receipt of a deletion",
        tag: "account",
        answer: { status: 200, description: "The receipt", schema: receiptSchema },
        errors: ["not_found"],
      },
      async handle(c, who) {
        const found = await deletions.find(c.req.param("id") ?? "");
        if (found && maySee(who, found)) return c.json(showReceipt(found));
        throw new ThroughlineError("not_found", "There is no such deletion.");
      },
    },
  ];
}

function maySee({ caller, credentials }: SignedIn, deletion: Deletion): boolean {
  if (credentials.isTrustedService) return true;
  if (deletion.account !== caller.billingAccountId) return false;
  const { subject } = caller;
  return subject === undefined || subject === deletion.subject || subject === deletion.askedBy;
}

function showReceipt(deletion: Deletion): z.output<typeof receiptSchema> {
  const { id, subject, threadHash, phase, askedBy, requestedAt, deletedAt, finishedAt, counts } = deletion;
  return {
    id,
    what: threadHash !== undefined ? "thread" : subject !== undefined ? "subject" : "account",
    threadHash: threadHash ?? null,
    status: phase === "sweeping" ? "deleted" : phase,
    askedBy,
    requestedAt: iso(requestedAt),
    deletedAt: deletedAt === undefined ? null : iso(deletedAt),
    finishedAt: finishedAt === undefined ? null : iso(finishedAt),
    counts,
  };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
