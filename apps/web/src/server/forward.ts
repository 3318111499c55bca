import type { NextRequest } from "next/server";
import { isSameOrigin } from "./same-origin";
import { identityHeaders, readSession, SESSION_COOKIE } from "./session";
import { readSettings } from "./settings";

const REQUEST_HEADERS = ["accept", "content-type", "last-event-id", "traceparent"];
const ANSWER_HEADERS = [
  "cache-control",
  "content-disposition",
  "content-type",
  "retry-after",
  "x-content-type-options",
  "x-request-id",
];

/**
 * Passes a request on as whoever is signed in, and the answer back as it comes: bytes are neither read nor held, and the
 * service learns within milliseconds that a browser left.
 */
export async function forward(request: NextRequest, path: string): Promise<Response> {
  const { serviceUrl, signIn } = readSettings();
  if (!isSameOrigin(request.headers)) {
    return refusal(403, "forbidden", "This address answers the console's own pages only.");
  }
  const session = readSession(request.cookies.get(SESSION_COOKIE)?.value, signIn);
  if (!session) return refusal(401, "unauthorized", "Sign in first.");

  const target = new URL(serviceUrl);
  target.pathname = `${serviceUrl.pathname.replace(/\/$/, "")}${path}`;
  target.search = new URL(request.url).search;
  const hasBody = request.body !== null && request.method !== "GET" && request.method !== "HEAD";
  const init: RequestInit & { duplex?: "half" } = {
    method: request.method,
    headers: { ...picked(request.headers, REQUEST_HEADERS), ...identityHeaders(session) },
    signal: request.signal,
    cache: "no-store",
    redirect: "manual",
    ...(hasBody && { body: request.body, duplex: "half" }),
  };
  try {
    const answer = await fetch(target, init);
    return new Response(answer.body, {
      status: answer.status,
      headers: { "cache-control": "no-store, no-transform", ...picked(answer.headers, ANSWER_HEADERS) },
    });
  } catch {
    if (request.signal.aborted) return new Response(null, { status: 499 });
    return refusal(
      502,
      "upstream_unavailable",
      "The service does not answer. It may be starting: try again.",
    );
  }
}

function picked(headers: Headers, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
}

/** In the service's own form, so that whoever reads its errors reads ours. */
export function refusal(status: number, code: string, message: string): Response {
  return Response.json({ code, message }, { status, headers: { "cache-control": "no-store" } });
}
