import { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener, type Http2Bindings, type HttpBindings } from "@hono/node-server";
import { keepParsedBody } from "./body-source.js";

/** Answers requests; given Node's own request and response it may write its streams straight to them. */
export interface FetchHandler {
  fetch(request: Request, env?: Partial<HttpBindings>): Promise<Response>;
}

/** Express and its like cut the path that they were mounted at from `url`. */
type MountedMessage = IncomingMessage & { readonly originalUrl?: string };

/**
 * A handler as Node's servers take it, and frameworks on top of them: `createServer`, Express' `use`, Fastify's raw request.
 * A JSON body that the framework's parser read is taken from `request.body`.
 */
export function toNodeHandler(
  handler: FetchHandler,
  options: { readonly hostname?: string } = {},
): (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> {
  const answer = getRequestListener((request, env) => handler.fetch(request, http1(env)), {
    ...options,
    overrideGlobalObjects: false,
  });
  return async (incoming: MountedMessage, outgoing) => {
    if (incoming.originalUrl !== undefined) incoming.url = incoming.originalUrl;
    keepParsedBody(incoming);
    await answer(incoming, outgoing);
  };
}

/** The adapter also speaks HTTP/2; these servers never do. */
function http1({ incoming, outgoing }: HttpBindings | Http2Bindings): Partial<HttpBindings> {
  return incoming instanceof IncomingMessage && outgoing instanceof ServerResponse
    ? { incoming, outgoing }
    : {};
}
