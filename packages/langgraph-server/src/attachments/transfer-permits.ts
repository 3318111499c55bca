import { type Clock, systemClock, ThroughlineError } from "@throughline/ai-core";

/** How many files may be on their way in and out of an instance at once. */
export interface TransferLimits {
  readonly maxTransfersPerAccount: number;
  readonly maxTransfersPerInstance: number;
}

export const DEFAULT_TRANSFER_LIMITS: TransferLimits = {
  maxTransfersPerAccount: 8,
  maxTransfersPerInstance: 64,
};

/** The right to send or receive one file. */
export interface TransferPermit {
  leave(): void;
}

export interface TransferPermits {
  /** Waits for a moment where all are taken, then throws `rate_limited` naming the limit. */
  take(account: string): Promise<TransferPermit>;
}

/** How long a request waits for a permit before it is refused. */
const PATIENCE_MS = 2_000;
/** When a refused client may retry: about as long as the holders keep their permits. Sooner it would only be refused again. */
const MIN_RETRY_AFTER_MS = 2_000;
const RETRY_AFTER_MS_PER_WAITING = 1_000;
const MAX_RETRY_AFTER_MS = 30_000;

interface Waiting {
  readonly account: string;
  admit(): void;
}

/**
 * Grants permits in the order of requests; an account that has all of its own is passed over, so it does not delay others.
 * A request that waits has read nothing of its body.
 */
export function createTransferPermits(
  limits: TransferLimits = DEFAULT_TRANSFER_LIMITS,
  {
    clock = systemClock,
    patienceMs = PATIENCE_MS,
  }: { readonly clock?: Clock; readonly patienceMs?: number } = {},
): TransferPermits {
  const { maxTransfersPerAccount, maxTransfersPerInstance } = limits;
  const taken = new Map<string, number>();
  const waiting = new Set<Waiting>();
  let inAll = 0;

  function limitFor(account: string): keyof TransferLimits | undefined {
    if ((taken.get(account) ?? 0) >= maxTransfersPerAccount) return "maxTransfersPerAccount";
    return inAll >= maxTransfersPerInstance ? "maxTransfersPerInstance" : undefined;
  }

  function retryAfter(account: string): number {
    const ahead = [...waiting].filter((other) => other.account === account).length;
    return Math.min(MAX_RETRY_AFTER_MS, Math.max(MIN_RETRY_AFTER_MS, RETRY_AFTER_MS_PER_WAITING * ahead));
  }

  function grant(account: string): TransferPermit {
    inAll += 1;
    taken.set(account, (taken.get(account) ?? 0) + 1);
    let left = false;
    return {
      leave() {
        if (left) return;
        left = true;
        inAll -= 1;
        const rest = (taken.get(account) ?? 1) - 1;
        if (rest > 0) taken.set(account, rest);
        else taken.delete(account);
        for (const next of waiting) {
          if (limitFor(next.account) === undefined) return next.admit();
        }
      },
    };
  }

  return {
    take(account) {
      if (limitFor(account) === undefined) return Promise.resolve(grant(account));
      return new Promise((resolve, reject) => {
        const asked: Waiting = {
          account,
          admit() {
            waiting.delete(asked);
            timer.cancel();
            resolve(grant(account));
          },
        };
        const timer = clock.schedule(patienceMs, () => {
          const retryAfterMs = retryAfter(account);
          waiting.delete(asked);
          reject(refusal(limitFor(account) ?? "maxTransfersPerInstance", limits, retryAfterMs));
        });
        waiting.add(asked);
      });
    },
  };
}

function refusal(
  limit: keyof TransferLimits,
  { [limit]: max }: TransferLimits,
  retryAfterMs: number,
): ThroughlineError {
  const whose = limit === "maxTransfersPerAccount" ? "this account" : "this instance";
  return new ThroughlineError(
    "rate_limited",
    `${limit}: ${whose} sends and receives ${max} files already. Retry after the time given.`,
    { details: { limit, max, retryAfterMs } },
  );
}
