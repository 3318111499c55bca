import { addressOf } from "../http/address-of.js";
import { earlyEndError } from "../http/early-end.js";
import { openStream, type RouteContext, type RouteParts, type SignedIn } from "../http/ingress.js";
import { type Ending, subscribeOnStream } from "../http/subscribe-stream.js";
import { encodeSseFrame } from "../hub/sse-frame.js";
import type { SubscribeFrom, ThreadHub } from "../hub/thread-hub.js";
import type { Place } from "../tenancy/account-limits.js";
import type { ThreadAddress } from "../thread/thread-address.js";

/** By which the AI SDK knows the version of its wire. */
const STREAM_HEADER = { name: "x-vercel-ai-ui-message-stream", value: "v1" } as const;

/** The data of a stream's last event, by which the AI SDK knows that it is complete. */
export const STREAM_END = "[DONE]";

/** Streams an answer to its run's end. */
export function streamChat(
  c: RouteContext,
  parts: RouteParts<{ readonly hub: ThreadHub }>,
  who: SignedIn,
  {
    thread,
    from,
    watching,
  }: { readonly thread: ThreadAddress; readonly from: SubscribeFrom; readonly watching: Place },
): Response {
  c.header(STREAM_HEADER.name, STREAM_HEADER.value);
  const { stream, response } = openStream(c, parts, watching);
  subscribeOnStream({
    hub: parts.service.hub,
    clock: parts.clock,
    thread,
    options: { face: { kind: "ui-messages", linksBelow: addressOf(c, parts) }, from, follow: false },
    stream,
    expiresAt: who.credentials.expiresAt,
    lastWords,
  });
  return response;
}

/** A stream that ends without an error is a complete answer to a client, so one that ends early says so. */
function lastWords({ reason }: Ending): Buffer[] {
  const done = encodeSseFrame({ data: STREAM_END });
  if (reason === "done") return [done];
  const { message } = earlyEndError(reason);
  return [encodeSseFrame({ data: JSON.stringify({ type: "error", errorText: message }) }), done];
}
