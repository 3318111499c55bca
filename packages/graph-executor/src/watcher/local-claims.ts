import type { ForeignRunClaimPort } from "@throughline/ai-core";

const REMEMBERED = 10_000;

/** Claims within one process: for a single instance, which has nobody to share with. */
export function createLocalClaims(): ForeignRunClaimPort {
  const held = new Set<string>();
  const finished = new Set<string>();

  function remember(key: string): void {
    finished.add(key);
    for (const oldest of finished) {
      if (finished.size <= REMEMBERED) return;
      finished.delete(oldest);
    }
  }

  return {
    async claim(threadId, upstreamRunId) {
      const key = `${threadId}/${upstreamRunId}`;
      if (held.has(key) || finished.has(key)) return undefined;
      held.add(key);
      return {
        lost: new AbortController().signal,
        async finish() {
          held.delete(key);
          remember(key);
        },
        async release() {
          held.delete(key);
        },
      };
    },
  };
}
