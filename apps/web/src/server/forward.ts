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
const RESPONSE_HEADERS = [
  "accept-ranges",
  "cache-control",
  "content-disposition",
  "content-range",
  // A thread's file is untrusted content: the service's policy puts it into a sandbox.
  "content-security-policy",
  "content-type",
  "cross-origin-resource-policy",
  "etag",
  "retry-after",
  "x-content-type-options",
  "x-request-id",
];

/**
 * Forwards a request as the signed-in person and streams the response back: bytes are neither read nor buffered, and the
 * service learns within milliseconds that a browser disconnected.
 */
export async function forward(request: NextRequest, path: string): Promise<Response> {
  const { serviceUrl, signIn } = readSettings();
  if (!isSameOrigin(request.headers)) {
    return refusal(403, "forbidden", "This address answers the console's own pages only.");
  }
  const session = readSession(request.cookies.get(SESSION_COOKIE)?.value, signIn);
  if (!session) return refusal(401, "unauthorized", "Sign in first.");
  const identity = identityOf(session);
  const expected = request.headers.get(IDENTITY_HEADER);
  if (expected === null && !isLoadedByBrowser(request)) {
    return refusal(400, "invalid_input", "This page does not say whom it was made for. Reload it.");
  }
  // A browser has one cookie for all its tabs: a page of one account must not act as another that signed in since.
  if (expected !== null && expected !== identityName(identity)) {
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
    const response = await fetch(target, init);
    return new Response(response.body, {
      status: response.status,
      headers: { "cache-control": "no-store, no-transform", ...picked(response.headers, RESPONSE_HEADERS) },
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
 * Whether the browser itself loads this: a picture, a linked file, a page. Such a request names no identity and is served for the
 * signed-in person. A script can't claim this: browsers write `sec-fetch-mode`, and `fetch` has other modes for its own origin.
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

/** Error response in the service's own format, so that code that parses its errors parses ours. */
export function refusal(status: number, code: string, message: string, details?: object): Response {
  const body = { code, message, ...(details && { details }) };
  return Response.json(body, { status, headers: { "cache-control": "no-store" } });
}
/**
 * Whether the request comes from one of our pages. A browser sends the cookie with requests of other sites too, so only requests
 * that are surely our own are served; a client that is no browser sends neither header and is refused.
 */
export function isSameOrigin(headers: Headers): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin";
  const origin = headers.get("origin");
  const host = headers.get("x-forwarded-host") ?? headers.get("host");
  return origin !== null && URL.canParse(origin) && new URL(origin).host === host;
}

/** Whether `Host` is this machine. Account sign-in trusts the machine, and any name on the internet can resolve to it. */
export function isLoopbackHost(host: string | null): boolean {
  if (host === null || !URL.canParse(`http://${host}`)) return false;
  return ["localhost", "127.0.0.1", "[::1]"].includes(new URL(`http://${host}`).hostname);
}
