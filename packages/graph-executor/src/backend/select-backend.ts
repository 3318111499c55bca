import { ThroughlineError } from "@throughline/ai-core";

export type Backend =
  | { readonly kind: "inproc" }
  | { readonly kind: "dev"; readonly url: string }
  | { readonly kind: "server"; readonly url: string; readonly apiKey?: string };

/** Which backend the environment asks for: the same graph ids run in this process, on a dev server or on a server. */
export function selectBackend(env: Readonly<Record<string, string | undefined>>): Backend {
  const {
    LANGGRAPH_DEV_URL: devUrl,
    LANGGRAPH_SERVER_URL: serverUrl,
    LANGGRAPH_SERVER_API_KEY: apiKey,
  } = env;
  if (devUrl && serverUrl) {
    throw new ThroughlineError(
      "invalid_input",
      "LANGGRAPH_DEV_URL and LANGGRAPH_SERVER_URL are both set. Unset one: only one backend can run the graphs.",
    );
  }
  if (devUrl) return { kind: "dev", url: checkedUrl("LANGGRAPH_DEV_URL", devUrl) };
  if (!serverUrl) return { kind: "inproc" };
  return { kind: "server", url: checkedUrl("LANGGRAPH_SERVER_URL", serverUrl), ...(apiKey && { apiKey }) };
}

function checkedUrl(name: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return text;
  throw new ThroughlineError(
    "invalid_input",
    `${name}: expected an http or https URL, as http://localhost:2024.`,
    { details: { field: name } },
  );
}
