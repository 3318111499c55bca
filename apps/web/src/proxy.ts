import { type NextRequest, NextResponse } from "next/server";
import { isLoopbackHost } from "./server/forward";
import { readSession, readSettings, SESSION_COOKIE } from "./server/session";

/** Runs before every page: requires a session and sets the content security policy. */
export function proxy(request: NextRequest): NextResponse {
  const { signIn } = readSettings();
  if (signIn === "account" && !isLoopbackHost(request.headers.get("host"))) {
    return new NextResponse("Account sign-in is for this machine alone: open the console as localhost.", {
      status: 403,
    });
  }
  const { pathname, search } = request.nextUrl;
  const isApi = pathname.startsWith("/api/");
  if (isApi) return NextResponse.next();

  const isSignedIn = readSession(request.cookies.get(SESSION_COOKIE)?.value, signIn) !== undefined;
  if (!isSignedIn && pathname !== "/sign-in") {
    const target = new URL("/sign-in", request.url);
    if (pathname !== "/") target.searchParams.set("to", `${pathname}${search}`);
    return NextResponse.redirect(target);
  }

  const nonce = Buffer.from(crypto.randomUUID()).toString("base64");
  const policy = contentPolicy(nonce);
  // Next reads the nonce from the request's own policy and puts it on the scripts it writes.
  const headers = new Headers(request.headers);
  headers.set("content-security-policy", policy);
  const response = NextResponse.next({ request: { headers } });
  for (const [name, value] of Object.entries({ ...PAGE_HEADERS, "content-security-policy": policy })) {
    response.headers.set(name, value);
  }
  return response;
}

export const config = { matcher: ["/((?!_next/static|favicon|icon|offline-worker).*)"] };

const PAGE_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=()",
  "cross-origin-opener-policy": "same-origin",
};

function contentPolicy(nonce: string): string {
  const scripts = ["'self'", `'nonce-${nonce}'`, "'strict-dynamic'"];
  // React's development build evaluates code to show where an error came from.
  if (process.env.NODE_ENV === "development") scripts.push("'unsafe-eval'");
  return [
    "default-src 'self'",
    `script-src ${scripts.join(" ")}`,
    `style-src 'self' ${process.env.NODE_ENV === "development" ? "'unsafe-inline'" : `'nonce-${nonce}'`}`,
    // For widths that follow a number; an attribute can't load anything.
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}
