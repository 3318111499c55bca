import type { NextRequest } from "next/server";
import { forward, refusal } from "../../../../server/forward";

export const dynamic = "force-dynamic";

/** Routes that the console's pages need; metrics and the like are for the service's operator. */
const OPEN = [
  "agents",
  "threads",
  "waiting",
  "crons",
  "store",
  "usage",
  "budgets",
  "account",
  "models",
  "feedback",
  "me",
];

async function handle(request: NextRequest): Promise<Response> {
  // The path without decoding: a name with an encoded slash must arrive as one segment.
  const path = new URL(request.url).pathname.replace(/^\/api\/throughline/, "");
  if (!OPEN.includes(path.split("/")[1] ?? "")) return refusal(404, "not_found", "There is nothing here.");
  return forward(request, path);
}

export { handle as DELETE, handle as GET, handle as PATCH, handle as POST, handle as PUT };
