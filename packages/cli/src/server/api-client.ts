import { ThroughlineError, wireErrorSchema } from "@throughline/ai-core";
import { CLIENT_SETTINGS, readSettings } from "@throughline/langgraph-server/settings";
import { type CommandInput, readingSettings } from "../command.js";
import { shellWord } from "../terminal/signals.js";

/** The HTTP client of a Throughline server. */
export interface ServerClient {
  readonly url: string;
  /** The headers that identify the caller, sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Flags that make another command talk to the same server as the same caller. */
  readonly sameFlags: string;
  request(
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    body?: unknown,
  ): Promise<unknown>;
  /** Gets a response that is not JSON. */
  text(path: string): Promise<string>;
}

/** The server that settings name. */
export function serverClient({ terminal, flags }: Pick<CommandInput, "terminal" | "flags">): ServerClient {
  const { values } = readingSettings(() => readSettings(CLIENT_SETTINGS, { env: terminal.env, flags }));
  const base = values.url.replace(/\/+$/, "");
  const headers = {
    ...(values.token !== undefined && { authorization: `Bearer ${values.token}` }),
    ...(values.account !== undefined && { "x-throughline-account": values.account }),
    ...(values.subject !== undefined && { "x-throughline-subject": values.subject }),
  };

  async function send(path: string, init: RequestInit): Promise<Response> {
    const response = await fetch(`${base}${path}`, {
      ...init,
      headers: {
        accept: "application/json",
        ...headers,
        ...(init.body != null && { "content-type": "application/json" }),
      },
    }).catch((cause: unknown) => {
      throw serverUnreachable(base, cause);
    });
    if (response.ok) return response;
    throw await refusal(response, base);
  }

  return {
    url: base,
    headers,
    sameFlags: Object.entries(CLIENT_SETTINGS)
      .flatMap(([name, setting]) => {
        const given = flags[name];
        return given === undefined || !("flag" in setting) ? [] : [` --${setting.flag} ${shellWord(given)}`];
      })
      .join(""),
    async request(method, path, body) {
      const response = await send(path, {
        method,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return response.status === 204 ? undefined : response.json();
    },
    text: async (path) => (await send(path, { method: "GET" })).text(),
  };
}

function serverUnreachable(url: string, cause: unknown): ThroughlineError {
  return new ThroughlineError(
    "upstream_unavailable",
    `No server answers at ${url}. Start one with \`throughline serve\`, or name another with --url or THROUGHLINE_URL.`,
    { cause },
  );
}

async function refusal(response: Response, url: string): Promise<ThroughlineError> {
  const wire = wireErrorSchema.safeParse(await response.json().catch(() => undefined)).data;
  if (!wire) {
    const sentence = `${url} answered ${response.status}, which is no answer of Throughline. Check --url.`;
    return new ThroughlineError(response.status >= 500 ? "upstream_unavailable" : "not_found", sentence);
  }
  const advice = wire.code === "unauthorized" ? " Set THROUGHLINE_TOKEN to a valid token." : "";
  return new ThroughlineError(wire.code, `${wire.message}${advice}`, {
    ...(wire.details && { details: wire.details }),
  });
}
