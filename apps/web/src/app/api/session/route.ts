import { accountIdSchema } from "@throughline/ai-core";
import { cookies } from "next/headers";
import { z } from "zod";
import { isLoopbackHost, isSameOrigin, refusal } from "../../../server/forward";

import {
  expiryOf,
  identityHeaders,
  labelOf,
  readSettings,
  SESSION_COOKIE,
  type Session,
  type SignIn,
  writeSession,
} from "../../../server/session";

export const dynamic = "force-dynamic";

const schemas = {
  account: z
    .object({ account: z.string().trim().pipe(accountIdSchema) })
    .transform(({ account }): Session => ({ kind: "account", account })),
  token: z
    .object({
      token: z
        .string()
        .trim()
        .regex(/^[\w-]+\.[\w-]+\.[\w-]+$/, "This is no JWT: it has three parts with dots between."),
    })
    .transform(({ token }): Session => ({ kind: "token", token })),
} satisfies Record<SignIn, z.ZodType<Session>>;

const DAY_S = 86_400;

/** Signs in with credentials that the service accepts, so that a wrong token is reported here and not by an empty page. */
export async function POST(request: Request): Promise<Response> {
  if (!isSameOrigin(request.headers)) return refusal(403, "forbidden", "Sign in from the console itself.");
  const { signIn, serviceUrl } = readSettings();
  const body: unknown = await request.json().catch(() => undefined);
  const read = schemas[signIn].safeParse(body);
  if (!read.success) return refusal(400, "invalid_input", read.error.issues[0]?.message ?? "Sign in again.");
  const session = read.data;
  const response = await fetch(new URL("/agents", serviceUrl), {
    headers: identityHeaders(session),
    cache: "no-store",
    // With a signal Next leaves the response alone; without one it holds a second copy, and `cancel` waits for that copy to end.
    signal: request.signal,
  }).catch(() => undefined);
  if (!response) return refusal(502, "upstream_unavailable", "The service does not answer. Is it running?");
  // Read, not cancelled: Next holds a copy of the stream, and a cancel would wait until the connection is closed.
  await response.arrayBuffer();
  if (response.status === 401)
    return refusal(401, "unauthorized", "The service does not accept this sign-in.");

  const expiry = expiryOf(session);
  (await cookies()).set(SESSION_COOKIE, writeSession(session), {
    httpOnly: true,
    sameSite: "lax",
    secure: !isLoopbackHost(request.headers.get("host")),
    path: "/",
    maxAge: expiry === undefined ? 30 * DAY_S : Math.max(0, Math.floor(expiry - Date.now() / 1_000)),
  });
  return Response.json({ label: labelOf(session) });
}

export async function DELETE(request: Request): Promise<Response> {
  if (!isSameOrigin(request.headers)) return refusal(403, "forbidden", "Sign out from the console itself.");
  (await cookies()).delete(SESSION_COOKIE);
  return new Response(null, { status: 204 });
}
