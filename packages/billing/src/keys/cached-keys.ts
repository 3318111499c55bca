import { type Clock, type KeyResolver, systemClock } from "@throughline/ai-core";

interface Cached {
  readonly until: number;
  readonly token: Promise<string>;
}

const MAX_CACHED = 10_000;

/** Asks once per `freshMs` for a key, also when many calls ask together. A failure is not remembered. */
export function cachedKeys(
  keys: KeyResolver,
  { freshMs = 30_000, clock = systemClock }: { readonly freshMs?: number; readonly clock?: Clock } = {},
): KeyResolver {
  const cache = new Map<string, Cached>();
  return {
    async resolveKey(virtualKeyId, account) {
      const name = JSON.stringify([account, virtualKeyId]);
      const known = cache.get(name);
      if (known && known.until > clock.now()) return known.token;
      const token = keys.resolveKey(virtualKeyId, account);
      const entry = { until: clock.now() + freshMs, token };
      if (cache.size >= MAX_CACHED) cache.clear();
      cache.set(name, entry);
      token.catch(() => {
        if (cache.get(name) === entry) cache.delete(name);
      });
      return token;
    },
  };
}
