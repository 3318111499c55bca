type HeadersSent = Headers | Readonly<Record<string, string>>;

export interface ChatHandlerOptions {
  /** The service's address. */
  readonly url: string;
  readonly agentId: string;
  /** The path where the handler is mounted. Default `/api/chat`, the default of `useChat`. */
  readonly path?: string;
  /** Headers that identify the caller to the service: usually a token. None of the page's own credentials is passed on. */
  readonly headers?: (request: Request) => HeadersSent | Promise<HeadersSent>;
  readonly fetch?: typeof fetch;
}

/** The routes below the chat's path: itself, `/:id`, `/:id/stream` and `/:id/stop`. */
const ROUTES = /^(?:|\/[^/]+(?:\/(?:stream|stop))?)$/;
const SENT_ON = ["content-type", "last-event-id"] as const;
const GIVEN_BACK = [
  "content-type",
  "cache-control",
  "retry-after",
  "x-accel-buffering",
  "x-request-id",
  "x-vercel-ai-ui-message-stream",
] as const;

/**
 * Serves `useChat`'s routes in your own server and forwards them to the service: your server authenticates, and the page knows
 * one origin. Streams pass byte for byte, and so do cursors.
 */
export function createChatHandler(options: ChatHandlerOptions): {
  fetch(request: Request): Promise<Response>;
} {
  const { path = "/api/chat", agentId } = options;
  const target = `${options.url.replace(/\/+$/, "")}/api/ai-sdk/${encodeURIComponent(agentId)}/chat`;
  return {
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const below = pathname.slice(path.length);
      if (!pathname.startsWith(path) || !ROUTES.test(below)) return new Response(null, { status: 404 });
      const headers = picked(request.headers, SENT_ON);
      new Headers(await options.headers?.(request)).forEach((value, name) => void headers.set(name, value));
      const send = options.fetch ?? fetch;
      const answer = await send(`${target}${below}${search}`, {
        method: request.method,
        headers,
        signal: request.signal,
        ...(request.body && { body: request.body, duplex: "half" }),
      });
      return new Response(answer.body, {
        status: answer.status,
        headers: picked(answer.headers, GIVEN_BACK),
      });
    },
  };
}

function picked(from: Headers, names: readonly string[]): Headers {
  const headers = new Headers();
  for (const name of names) {
    const value = from.get(name);
    if (value !== null) headers.set(name, value);
  }
  return headers;
}
