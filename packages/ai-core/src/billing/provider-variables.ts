/** Stands where a client library insists on a key. The meter replaces it by the tenant's. */
const NO_KEY = "metered";

/**
 * Variables by which the providers' own client libraries find LiteLLM, so that a graph's plain model goes through it. The
 * Anthropic library adds `/v1` itself.
 */
export function providerVariables(litellmBaseUrl: string): {
  /** To be set whatever was there. */
  readonly addresses: Readonly<Record<string, string>>;
  /** To be set where there is none. */
  readonly keys: Readonly<Record<string, string>>;
} {
  const base = litellmBaseUrl.replace(/\/+$/, "").replace(/\/v1$/, "");
  return {
    addresses: { OPENAI_BASE_URL: `${base}/v1`, ANTHROPIC_BASE_URL: base },
    keys: { OPENAI_API_KEY: NO_KEY, ANTHROPIC_API_KEY: NO_KEY },
  };
}
