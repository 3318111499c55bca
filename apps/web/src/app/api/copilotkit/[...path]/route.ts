import type { NextRequest } from "next/server";
import { forward } from "../../../../server/forward";

export const dynamic = "force-dynamic";

async function handle(request: NextRequest): Promise<Response> {
  return forward(request, new URL(request.url).pathname);
}

export { handle as DELETE, handle as GET, handle as PATCH, handle as POST };
