import type { NextRequest } from "next/server";
import { IDENTITY_HEADER, identityLabel, identityName } from "../data/identity";
import { identityHeaders, identityOf, readSession, readSettings, SESSION_COOKIE } from "./session";

const REQUEST_HEADERS = [
  "accept",
  "content-type",
  "if-none-match",
  "if-range",
  "last-event-id",
  "range",
  "traceparent",
];
const ANSWER_HEADERS = [
  "accept-ranges",
  "cache-control",
  "content-disposition",
  "content-range",
  // A file of a thread is a stranger's words: the service puts it into a sandbox.
  "content-security-policy",
  "content-type",
  "cross-origin-resource-policy",
  "etag",
  "retry-after",
  "x-content-type-options",
  "x-request-id",
];

/**
 * Passes a request on as the signed-in person, and the answer back as it comes: bytes are neither read nor held, and the
 * service learns within milliseconds that a browser left.
 */
export async function forward(request: NextRequest, path: string): Promise<Response> {
  const { serviceUrl, signIn } = readSettings();
  if (!isSameOrigin(request.headers)) {
    return refusal(403, "forbidden", "This address answers the console's own pages only.");
  }
  const session = readSession(request.cookies.get(SESSION_COOKIE)?.value, signIn);
  if (!session) return refusal(401, "unauthorized", "Sign in first.");
  const identity = identityOf(session);
  const meant = request.headers.get(IDENTITY_HEADER);
  if (meant === null && !isLoadedByBrowser(request)) {
    return refusal(400, "invalid_input", "This page does not say whom it was made for. Reload it.");
  }
  // A browser has one cookie for all its tabs: a page of one account must not act as another that signed in since.
  if (meant !== null && meant !== identityName(identity)) {
    const signedInAs = identityLabel(identity);
    return refusal(401, "signed_in_as_other", `This browser is signed in as ${signedInAs} now.`, {
      signedInAs,
    });
  }

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

/**
 * Whether the browser itself loads this: a picture, a file behind a link, a page. It names no one, and is read for the person who is
 * signed in. A script can't claim this: browsers write `sec-fetch-mode`, and `fetch` has other modes for its own origin.
 */
function isLoadedByBrowser({ method, headers }: NextRequest): boolean {
  const mode = headers.get("sec-fetch-mode");
  return (method === "GET" || method === "HEAD") && (mode === "navigate" || mode === "no-cors");
}

function picked(headers: Headers, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
}

/** In the service's own form, so that code that reads its errors reads ours. */
export function refusal(status: number, code: string, message: string, details?: object): Response {
  const told = { code, message, ...(details && { details }) };
  return Response.json(told, { status, headers: { "cache-control": "no-store" } });
}
/**
 * Whether a page of ours asks. A cookie goes along with whatever another site makes a browser send, so nothing that is not
 * surely our own page's is done; a client that is no browser says neither header and has no business here.
 */
export function isSameOrigin(headers: Headers): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin";
  const origin = headers.get("origin");
  const host = headers.get("x-forwarded-host") ?? headers.get("host");
  return origin !== null && URL.canParse(origin) && new URL(origin).host === host;
}

/** Account sign-in trusts this machine, and a name on the internet can be pointed at it: the `Host` must say so as well. */
export function isLoopbackHost(host: string | null): boolean {
  if (host === null || !URL.canParse(`http://${host}`)) return false;
  return ["localhost", "127.0.0.1", "[::1]"].includes(new URL(`http://${host}`).hostname);
}
