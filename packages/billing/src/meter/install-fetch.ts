import { markLabelling, refuseCall, requestTarget, ThroughlineError } from "@throughline/ai-core";

export interface InstalledFetch {
  /** As it was before: for requests that are not to be metered. */
  readonly plain: typeof fetch;
  /** From now on requests go through this one. */
  use(metered: typeof fetch): void;
  /** `fetch` is what it was. */
  remove(): void;
}

/**
 * Puts itself in the place of `fetch`, to be called before graphs are loaded: a client keeps the `fetch` it was made with.
 * Until there is a meter, POSTs to LiteLLM are refused: they belong to no run.
 */
export function installFetch(litellmBaseUrl: string): InstalledFetch {
  const { origin } = new URL(litellmBaseUrl);
  const plain = globalThis.fetch;
  let current: typeof fetch = async (input, init) => {
    const { method, url } = requestTarget(input, init);
    if (method !== "POST" || url.origin !== origin) return plain(input, init);
    return refuseCall(
      new ThroughlineError("forbidden", "Models can't be called before the service has started."),
    ).response;
  };
  const installed = markLabelling((input, init) => current(input, init));
  globalThis.fetch = installed;
  return {
    plain,
    use(metered) {
      current = metered;
    },
    remove() {
      if (globalThis.fetch === installed) globalThis.fetch = plain;
      current = plain;
    },
  };
}
