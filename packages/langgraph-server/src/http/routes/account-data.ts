import { jsonObjectSchema, ThroughlineError } from "@throughline/ai-core";
import type { StoreItems } from "@throughline/graph-executor";
import { z } from "zod";
import type { Deletion } from "../../accounts/deletion.js";
import type { DeletionService } from "../../accounts/deletion-service.js";
import type { ExportService } from "../../accounts/export-account.js";
import { wholeNumber } from "../paging.js";
import { type App, type AuthorizedRequest, parseQuery } from "../request.js";
import { accountScopeOf, accountScopeSchema, threadOf } from "../request-scope.js";
import type { ActionRoute } from "../route.js";

/** Time in which most deletions complete; a longer one goes on, and its receipt shows the progress. */
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

/** Routes that delete threads and accounts, and their receipts. */
export function deletionRoutes(parts: App<{ readonly deletions: DeletionService }>): ActionRoute[] {
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
        response: { status: 202, description: "The receipt", schema: receiptSchema },
        errors: ["invalid_input", "not_found", "rate_limited"],
      },
      async handle(c, who) {
        const thread = await threadOf(c, parts, who);
        const { caller } = who;
        const begun = await deletions.deleteThread(thread, caller.subject ?? caller.billingAccountId);
        who.audit({ target: { deletionId: begun.id } });
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
        response: { status: 202, description: "The receipt", schema: receiptSchema },
        errors: ["invalid_input", "rate_limited"],
      },
      async handle(c, who) {
        const { account, subject } = accountScopeOf(who, parseQuery(c, accountScopeSchema));
        const { caller } = who;
        const begun = await deletions.deleteAccount(
          account,
          subject,
          caller.subject ?? caller.billingAccountId,
        );
        who.audit({ target: { deletionId: begun.id } });
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
        response: { status: 200, description: "The receipt", schema: receiptSchema },
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

function maySee({ caller, credentials }: AuthorizedRequest, deletion: Deletion): boolean {
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

/** The export of all data of an account or a person. */
export function exportRoutes(parts: App<{ readonly exports: ExportService }>): ActionRoute[] {
  return [
    {
      method: "GET",
      path: "/account/export",
      action: "export",
      doc: {
        summary: "Export everything of an account, or of one person in it",
        description:
          "A tar archive (ustar), made as it is read: `threads.jsonl`, `runs.jsonl`, `questions.jsonl`, `crons.jsonl`, " +
          "`ticks.jsonl`, `files.jsonl`, `receipts.jsonl`, `audit.jsonl`, `usage.jsonl` (model calls and what they cost), `store.jsonl`, `threads/ID/state.json`, " +
          "`threads/ID/branches.jsonl` (the ends of branches that the thread was run on from elsewhere), `threads/ID/log.jsonl`, `files/THREAD/ID`, `checksums.jsonl`, and `manifest.json` as the last file: an archive without it was cut off.",
        tag: "account",
        query: accountScopeSchema,
        response: { status: 200, description: "The archive", contentType: "application/x-tar" },
        errors: ["invalid_input", "rate_limited"],
      },
      async handle(c, who) {
        const scope = accountScopeOf(who, parseQuery(c, accountScopeSchema));
        // A HEAD response has no body, so the archive would be created for no reader.
        if (c.req.method === "HEAD") return c.body(null, 200, HEADERS);
        return c.body(await parts.service.exports.open(scope), 200, HEADERS);
      },
    },
  ];
}

const HEADERS = {
  "content-type": "application/x-tar",
  "content-disposition": 'attachment; filename="export.tar"',
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
};

/** Namespaces as text. LangGraph allows no dot in a label, so dots separate them. */
const namespaceSchema = z
  .string()
  .max(1_000)
  .transform((text) => text.split(".").filter((label) => label !== ""));

const listSchema = z.object({
  prefix: namespaceSchema.default([]).describe("A namespace, with dots between its labels."),
  limit: wholeNumber(1, 100).default(50),
  offset: wholeNumber(0, 1_000_000).default(0),
});
const itemNameSchema = z.object({
  namespace: namespaceSchema.describe("With dots between its labels."),
  key: z.string().min(1).max(1_000),
});
const itemSchema = z.object({
  namespace: z.array(z.string()),
  key: z.string(),
  value: jsonObjectSchema,
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

/** The store items that graphs hold for the caller across threads. */
export function storeRoutes(parts: App<{ readonly storeItems: StoreItems | undefined }>): ActionRoute[] {
  function items(): StoreItems {
    if (parts.service.storeItems) return parts.service.storeItems;
    throw new ThroughlineError(
      "not_found",
      "The graphs run on a LangGraph server, whose store can't be told apart by account.",
    );
  }
  return [
    {
      method: "GET",
      path: "/store/items",
      action: "read_store",
      doc: {
        summary: "List what graphs remember",
        tag: "account",
        query: listSchema,
        response: { status: 200, description: "Items", schema: z.object({ items: z.array(itemSchema) }) },
        errors: ["invalid_input", "not_found"],
      },
      async handle(c, { caller }) {
        const found = await items().list(caller, parseQuery(c, listSchema));
        return c.json({ items: found });
      },
    },
    {
      method: "DELETE",
      path: "/store/items",
      action: "write_store",
      doc: {
        summary: "Delete something graphs remember",
        tag: "account",
        query: itemNameSchema,
        response: { status: 204, description: "It is gone" },
        errors: ["invalid_input", "not_found"],
      },
      async handle(c, { caller }) {
        const { namespace, key } = parseQuery(c, itemNameSchema);
        if (await items().delete(caller, namespace, key)) return c.body(null, 204);
        throw new ThroughlineError("not_found", "There is no such item.");
      },
    },
  ];
}
