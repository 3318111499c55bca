/** Requests of one account's person, through the load balancer. */
export interface Requests {
  readonly account: string;
  readonly headers: Readonly<Record<string, string>>;
  get(path: string, options?: RequestOptions): Promise<Response>;
  post(path: string, body: object, options?: RequestOptions): Promise<Response>;
}

export interface RequestOptions {
  readonly cursor?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The time taken over each piece of the answer; 0 for none. */
  readonly chunkMs?: number;
}

/** Streams have a heartbeat every 5 s: one that is silent for this long is half-open, and is aborted. */
const SILENCE_MS = 12_000;

export function requestsOf(url: string, account: string, token: string): Requests {
  const headers = { authorization: `Bearer ${token}` };
  async function request(path: string, init: RequestInit, options: RequestOptions): Promise<Response> {
    const { cursor, signal, chunkMs = 0 } = options;
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(new Error("silent for too long")), SILENCE_MS);
    timer.unref();
    const response = await fetch(`${url}${path}`, {
      ...init,
      headers: {
        ...headers,
        ...(cursor !== undefined && { "last-event-id": cursor }),
        ...(init.body !== undefined && { "content-type": "application/json" }),
      },
      signal: signal ? AbortSignal.any([signal, silence.signal]) : silence.signal,
    }).catch((error: unknown) => {
      clearTimeout(timer);
      throw error;
    });
    const body = response.body?.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>(
        {
          async transform(chunk, controller) {
            timer.refresh();
            if (chunkMs > 0) await new Promise((resolve) => setTimeout(resolve, chunkMs));
            controller.enqueue(chunk);
          },
          flush: () => clearTimeout(timer),
        },
        { highWaterMark: 1 },
        { highWaterMark: 0 },
      ),
    );
    return new Response(body ?? null, { status: response.status, headers: response.headers });
  }
  return {
    account,
    headers,
    get: (path, options = {}) => request(path, {}, options),
    post: (path, body, options = {}) =>
      request(path, { method: "POST", body: JSON.stringify(body) }, options),
  };
}

/** Asks until it is answered with 2xx; `undefined` once `signal` is aborted. */
export async function askUntilAnswered<T>(
  ask: () => Promise<Response>,
  { signal, everyMs = 300 }: { readonly signal: AbortSignal; readonly everyMs?: number },
): Promise<T | undefined> {
  while (!signal.aborted) {
    const answer = await ask()
      .then(async (response) => (response.ok ? ((await response.json()) as T) : undefined))
      .catch(() => undefined);
    if (answer !== undefined) return answer;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  return undefined;
}
