import { ThroughlineError } from "@throughline/ai-core";
import { z } from "zod";

export interface LitellmAdminOptions {
  readonly baseUrl: string;
  /** Key for requests that no tenant may send: model lists, creating keys, reading spend logs. */
  readonly serviceKey: string;
  /** Not a metered one. */
  readonly send?: typeof fetch;
  readonly timeoutMs?: number;
}

export interface NewKey {
  readonly token: string;
  readonly alias: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly limits: Readonly<Record<string, unknown>>;
}

/** LiteLLM's management API, apart from model calls. */
export interface LitellmAdmin {
  /** Makes a key known to LiteLLM; again is fine. */
  registerKey(key: NewKey): Promise<void>;
  /**
   * GETs JSON with the service key, or with another. Throws `unauthorized` where LiteLLM refuses the key, and
   * `upstream_unavailable` for every other answer that is none.
   */
  read(path: string, query?: Readonly<Record<string, string>>, key?: string): Promise<unknown>;
}

const errorSchema = z.object({ error: z.object({ param: z.string().nullish() }) });

export function createLitellmAdmin(options: LitellmAdminOptions): LitellmAdmin {
  const { serviceKey, send = globalThis.fetch, timeoutMs = 10_000 } = options;
  const base = options.baseUrl.replace(/\/+$/, "").replace(/\/v1$/, "");

  async function request(path: string, key: string, init: RequestInit = {}): Promise<Response> {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    try {
      return await send(`${base}${path}`, { ...init, headers, signal: AbortSignal.timeout(timeoutMs) });
    } catch (error) {
      throw unavailable(path, "does not answer", error);
    }
  }

  async function read(
    path: string,
    query: Readonly<Record<string, string>> = {},
    key = serviceKey,
  ): Promise<unknown> {
    const search = new URLSearchParams(query).toString();
    const response = await request(search === "" ? path : `${path}?${search}`, key);
    if (!response.ok) {
      await response.body?.cancel();
      if (response.status === 401) throw keyRefused();
      throw unavailable(path, `answers ${response.status}`);
    }
    return response.json().catch((error: unknown) => {
      throw unavailable(path, "answers something else than JSON", error);
    });
  }

  return {
    read,
    async registerKey({ token, alias, metadata, limits }) {
      const body = JSON.stringify({ ...limits, key: token, key_alias: alias, metadata });
      const response = await request("/key/generate", serviceKey, { method: "POST", body });
      const answer: unknown = await response.json().catch(() => undefined);
      if (response.ok) return;
      // The alias is taken, by this very key unless someone made one by hand.
      const error = errorSchema.safeParse(answer);
      if (error.success && error.data.error.param === "key_alias") {
        await read("/key/info", { key: token });
        return;
      }
      throw unavailable("/key/generate", `answers ${response.status}`);
    },
  };
}

function keyRefused(): ThroughlineError {
  return new ThroughlineError("unauthorized", "LiteLLM does not accept the key of this account.");
}

/** The error for a failed request. Omits the response's text, which may repeat a key. */
function unavailable(path: string, what: string, cause?: unknown): ThroughlineError {
  return new ThroughlineError("upstream_unavailable", `LiteLLM ${what} at ${path}.`, { cause });
}
