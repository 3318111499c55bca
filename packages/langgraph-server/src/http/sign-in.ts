import { ThroughlineError } from "@throughline/ai-core";
import { toCaller } from "../tenancy/caller-resolver.js";
import type { RouteContext, RouteParts } from "./ingress.js";
import { openVisit, type Visit } from "./open-visit.js";
import { readJsonBody } from "./read-json-body.js";

/** Who asks. Every route but the open ones begins here, so that none can be reached without. */
export async function signIn(c: RouteContext, parts: RouteParts): Promise<Visit> {
  const address = c.env?.incoming?.socket.remoteAddress;
  const credentials = await parts.resolver.resolve({
    headers: c.req.raw.headers,
    url: new URL(c.req.url),
    remoteAddress: address,
  });
  if (credentials.expiresAt !== undefined && credentials.expiresAt <= parts.clock.now()) {
    throw new ThroughlineError("unauthorized", "The token has expired.");
  }
  const { requestId, traceId } = c.get("trace");
  const caller = toCaller(credentials, traceId);
  const account = caller.billingAccountId;
  const limits = parts.limitsOf(account);
  const declared = declaredLength(c.req.raw);
  if (declared !== 0) await parts.usage.body(account, limits, declared);
  return openVisit({
    caller,
    credentials,
    limits,
    audit: parts.service.audit,
    origin: { address, requestId, route: c.get("route") },
    readBody: () =>
      readJsonBody(c.req.raw, {
        incoming: c.env?.incoming,
        maxBytes: limits.maxBodyBytes,
        onRead(bytes) {
          if (declared === undefined) parts.usage.bodyRead(account, limits, bytes);
        },
      }),
  });
}

/** 0 where there is no body, `undefined` where its length is not told. */
function declaredLength({ method, headers }: Request): number | undefined {
  const declared = headers.get("content-length");
  if (declared !== null) return Number(declared);
  return method === "GET" || method === "HEAD" ? 0 : undefined;
}
