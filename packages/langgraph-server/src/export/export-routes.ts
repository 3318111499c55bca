import { accountScopeOf, accountScopeSchema } from "../http/account-scope.js";
import { queryOf } from "../http/checked-request.js";
import type { RouteParts } from "../http/ingress.js";
import type { ActionRoute } from "../http/route-table.js";
import type { ExportService } from "./export-service.js";

/** Everything of an account or a person, to take along. */
export function exportRoutes(parts: RouteParts<{ readonly exports: ExportService }>): ActionRoute[] {
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
        answer: { status: 200, description: "The archive", contentType: "application/x-tar" },
        errors: ["invalid_input", "rate_limited"],
      },
      async handle(c, who) {
        const scope = accountScopeOf(who, queryOf(c, accountScopeSchema));
        // Without a body the archive would be made for no reader.
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
