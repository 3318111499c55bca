import { randomUUID } from "node:crypto";
import { createServer, IncomingMessage, type Server, ServerResponse, STATUS_CODES } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener, type Http2Bindings, type HttpBindings } from "@hono/node-server";
import { type ErrorCode, httpStatusOf, ThroughlineError, toWireError } from "@throughline/ai-core";
import { restoreRawBody } from "./bodies.js";

const DEFAULT_PORT = 8_000;
const PORTS_TO_TRY = 100;
/** Time for readers to receive what was written; connections that still are open after it are closed. */
const FLUSH_MS = 2_000;
/** Longer than a proxy's idle timeout, 60 s as a rule: a connection that we close first loses a request that was just sent. */
const KEEP_ALIVE_MS = 75_000;

export interface Listening {
  readonly url: string;
  stopAccepting(): void;
  /** Resolves when every connection is closed. */
  finish(): Promise<void>;
}

/** Serves a handler. Without a port it binds 8000 or the next free one; a configured port that is in use is an error. */
export async function listen(
  handler: FetchHandler,
  { host, port }: { readonly host: string; readonly port: number | undefined },
): Promise<Listening> {
  let isClosing = false;
  const listener = toNodeHandler(handler, { hostname: host });
  const server = createServer((incoming, outgoing) => {
    // A client that reuses its connection would never notice that it has to connect to another instance.
    if (isClosing) outgoing.shouldKeepAlive = false;
    return listener(incoming, outgoing);
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.on("clientError", answerMalformed);
  await bind(server, host, port);
  // Node returns an `AddressInfo` for a server that is bound to an address and not to a pipe.
  const { port: bound } = server.address() as AddressInfo;
  const closed = new Promise<void>((resolve) => server.once("close", resolve));
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`,
    stopAccepting() {
      isClosing = true;
      server.close();
    },
    async finish() {
      server.closeIdleConnections();
      const late = setTimeout(() => server.closeAllConnections(), FLUSH_MS);
      await closed;
      clearTimeout(late);
    },
  };
}

/** Answers a malformed request with an error code. It never reaches the handler. */
function answerMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  // A response may be half-way through: no error can be written into it any more.
  const isMidway = "bytesWritten" in socket && socket.bytesWritten !== 0;
  if (!socket.writable || isMidway || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const code: ErrorCode = error.code === "HPE_HEADER_OVERFLOW" ? "too_large" : "invalid_input";
  const what = code === "too_large" ? "headers: are too large" : "request: is not HTTP";
  const status = httpStatusOf(code);
  const requestId = randomUUID();
  const body = JSON.stringify({ ...toWireError(new ThroughlineError(code, what)), requestId });
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      "connection: close",
      "content-type: application/json",
      `x-request-id: ${requestId}`,
      `content-length: ${Buffer.byteLength(body)}`,
      "",
      body,
    ].join("\r\n"),
  );
}

async function bind(server: Server, host: string, port: number | undefined): Promise<void> {
  if (port !== undefined) return bindTo(server, host, port);
  for (let offset = 0; offset < PORTS_TO_TRY; offset += 1) {
    try {
      return await bindTo(server, host, DEFAULT_PORT + offset);
    } catch (error) {
      if (!(error instanceof ThroughlineError)) throw error;
    }
  }
  throw new ThroughlineError("invalid_input", `No port from ${DEFAULT_PORT} on is free. Set PORT.`);
}

async function bindTo(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) => {
      server.removeListener("listening", onListening);
      reject(error.code === "EADDRINUSE" ? portInUse(host, port) : error);
    };
    const onListening = () => {
      server.removeListener("error", onError);
      resolve();
    };
    server.once("error", onError);
    server.once("listening", onListening);
    server.listen(port, host);
  });
}

function portInUse(host: string, port: number): ThroughlineError {
  return new ThroughlineError(
    "invalid_input",
    `Port ${port} of ${host} is taken. Choose another one with PORT.`,
    {
      details: { field: "PORT" },
    },
  );
}

/** Answers requests. Given Node's own request and response it may write streams directly to them. */
export interface FetchHandler {
  fetch(request: Request, env?: Partial<HttpBindings>): Promise<Response>;
}

/** Express and its like cut the path that they were mounted at from `url`. */
type MountedMessage = IncomingMessage & { readonly originalUrl?: string };

/**
 * Converts a handler for Node's servers and frameworks on top of them: `createServer`, Express' `use`, Fastify's raw request.
 * A JSON body that the framework's parser consumed is read from `request.body`.
 */
export function toNodeHandler(
  handler: FetchHandler,
  options: { readonly hostname?: string } = {},
): (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> {
  const listener = getRequestListener((request, env) => handler.fetch(request, http1(env)), {
    ...options,
    overrideGlobalObjects: false,
  });
  return async (incoming: MountedMessage, outgoing) => {
    if (incoming.originalUrl !== undefined) incoming.url = incoming.originalUrl;
    restoreRawBody(incoming);
    await listener(incoming, outgoing);
  };
}

/** The adapter also speaks HTTP/2; these servers never do. */
function http1({ incoming, outgoing }: HttpBindings | Http2Bindings): Partial<HttpBindings> {
  return incoming instanceof IncomingMessage && outgoing instanceof ServerResponse
    ? { incoming, outgoing }
    : {};
}
