import type { IncomingMessage } from "node:http";
import { ThroughlineError } from "@throughline/ai-core";

/** A request's body before it is read. `undefined` where there is none. */
export function bodySource(
  request: Pick<Request, "body">,
  incoming: IncomingMessage | undefined,
): AsyncIterable<Uint8Array> | undefined {
  if (!incoming || parsedBody(incoming)) return request.body ?? undefined;
  if (incoming.readableDidRead) {
    throw new ThroughlineError(
      "internal",
      "The body was read before the request reached this handler. Mount it before body parsers.",
    );
  }
  // Read from Node's own request it costs no web streams. Left early, the request would take the connection with it, and the
  // answer that says why.
  return incoming.iterator({ destroyOnReturn: false });
}

interface Parsed {
  /** What a framework's parser made of the body. */
  readonly body?: unknown;
  /** Where Node's adapter finds a body that was read before. */
  rawBody?: Buffer;
}

/** Keeps what a framework's body parser read, so that it can be read again. */
export function keepParsedBody(incoming: IncomingMessage & Parsed): void {
  if (!incoming.readableDidRead || incoming.rawBody || incoming.body === undefined) return;
  const { body } = incoming;
  if (Buffer.isBuffer(body)) incoming.rawBody = body;
  else incoming.rawBody = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

function parsedBody(incoming: IncomingMessage & Parsed): Buffer | undefined {
  return incoming.rawBody;
}
