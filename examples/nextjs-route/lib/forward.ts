const REQUEST_HEADERS = ["accept", "content-type", "last-event-id"];
const RESPONSE_HEADERS = ["cache-control", "content-type", "retry-after", "x-request-id"];

/**
 * Passes a request on to the Throughline service and streams its response back. The service's address and the token stay on the
 * server; `request.signal` tells the service that the browser left.
 */
export async function forward(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const target = new URL(pathname + search, process.env.THROUGHLINE_URL ?? "http://127.0.0.1:8000");
  const token = await tokenOf(request);
  const init: RequestInit & { duplex: "half" } = {
    method: request.method,
    headers: {
      ...picked(request.headers, REQUEST_HEADERS),
      ...(token && { authorization: `Bearer ${token}` }),
    },
    body: request.body,
    duplex: "half",
    signal: request.signal,
    cache: "no-store",
  };
  try {
    const response = await fetch(target, init);
    return new Response(response.body, {
      status: response.status,
      headers: picked(response.headers, RESPONSE_HEADERS),
    });
  } catch {
    if (request.signal.aborted) return new Response(null, { status: 499 });
    const message = `No Throughline service at ${target.origin}. Start one, or set THROUGHLINE_URL.`;
    return Response.json({ code: "upstream_unavailable", message }, { status: 502 });
  }
}

/**
 * Your own sign-in goes here: read the session, and return a JWT that the service accepts for that person. Without one the
 * service must have dev sign-in, which is for this machine alone.
 */
async function tokenOf(_request: Request): Promise<string | undefined> {
  return process.env.THROUGHLINE_TOKEN;
}

function picked(headers: Headers, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
}
