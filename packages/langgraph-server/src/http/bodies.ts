import type { IncomingMessage } from "node:http";
import { type Json, type JsonObject, ThroughlineError } from "@throughline/ai-core";
import { z } from "zod";

/** Returns a request's unread body, `undefined` where there is none. */
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
  // Reading Node's own request costs no web streams. An early return would destroy the request and its connection, and with it the
  // response that gives the reason.
  return incoming.iterator({ destroyOnReturn: false });
}

interface Parsed {
  /** The result of a framework's body parser. */
  readonly body?: unknown;
  /** The property in which Node's adapter looks for a body that was read before. */
  rawBody?: Buffer;
}

/** Restores the raw body that a framework's body parser consumed, so that it can be read again. */
export function restoreRawBody(incoming: IncomingMessage & Parsed): void {
  if (!incoming.readableDidRead || incoming.rawBody || incoming.body === undefined) return;
  const { body } = incoming;
  if (Buffer.isBuffer(body)) incoming.rawBody = body;
  else incoming.rawBody = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

function parsedBody(incoming: IncomingMessage & Parsed): Buffer | undefined {
  return incoming.rawBody;
}

/** Maximum nesting, deeper than any state has; a recursive walk of more would run out of stack. */
const MAX_DEPTH = 128;
/** Characters that PostgreSQL can't store: a run that held one would fail long after it was accepted. */
const UNSTORABLE = /[\0\p{Cs}]/u;
const NOT_STORABLE = "holds a NUL or half a surrogate pair, which can't be stored";

export interface BodyOptions {
  /** Node's own request, if there is one. */
  readonly incoming: IncomingMessage | undefined;
  readonly maxBytes: number;
  readonly onRead: (bytes: number) => void;
}

/**
 * Reads a request's body as JSON, `undefined` when there is none, and no further than the limit. Refuses other content types:
 * a form on any web page could send one without a preflight (CSRF), but not JSON.
 */
export async function readJsonBody(
  request: Request,
  { incoming, maxBytes, onRead }: BodyOptions,
): Promise<Json | undefined> {
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > maxBytes) throw tooLarge(maxBytes);
  const body = bodySource(request, incoming);
  const bytes = body ? await readUpTo(body, maxBytes) : new Uint8Array();
  onRead(bytes.byteLength);
  if (bytes.byteLength === 0) return undefined;
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)) {
    throw new ThroughlineError("invalid_input", "content-type: send application/json", {
      details: { field: "content-type" },
    });
  }
  const value = parse(bytes);
  // No route accepts null, and code that fills in a missing body would treat it as one.
  const problem = value === null ? "is null; send an object, or nothing" : problemIn(value);
  if (problem !== undefined) {
    throw new ThroughlineError("invalid_input", `body: ${problem}`, { details: { field: "body" } });
  }
  return value;
}

async function readUpTo(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.byteLength;
      if (size > maxBytes) throw tooLarge(maxBytes);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof ThroughlineError) throw error;
    throw new ThroughlineError("invalid_input", "body: ended before it was complete", {
      details: { field: "body" },
      cause: error,
    });
  }
  return Buffer.concat(chunks, size);
}

function parse(bytes: Uint8Array): Json {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    // A parsed boundary: what JSON.parse gives is JSON.
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw new ThroughlineError("invalid_input", "body: is not JSON in UTF-8", {
      details: { field: "body" },
      cause,
    });
  }
}

/** Finds what can't be stored. Walks level by level, so that its own depth does not depend on the stack. */
function problemIn(value: Json): string | undefined {
  let level: Json[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return `is nested more than ${MAX_DEPTH} levels deep`;
    const next: Json[] = [];
    for (const item of level) {
      if (typeof item === "string" && UNSTORABLE.test(item)) return NOT_STORABLE;
      if (typeof item !== "object" || item === null) continue;
      for (const [key, inner] of Object.entries(item)) {
        if (UNSTORABLE.test(key)) return NOT_STORABLE;
        next.push(inner);
      }
    }
    level = next;
  }
  return undefined;
}

function tooLarge(maxBytes: number): ThroughlineError {
  return new ThroughlineError(
    "too_large",
    `body: is larger than ${maxBytes} bytes, the most a request may have. Send less at once.`,
    { details: { field: "body", limit: "maxBodyBytes", max: maxBytes } },
  );
}

/** JSON that JSON.parse returned: checking it again, level by level, would only cost. */
export const parsedJson = z.custom<Json>((value) => value !== undefined, "is missing");

export const parsedObject = z
  .custom<JsonObject>(
    (value) => typeof value === "object" && value !== null && !Array.isArray(value),
    "must be an object",
  )
  .meta({ type: "object" });
