import type { StoragePort } from "../commands/pending-sync.js";
import type { LockPort } from "./ports.js";
import { tabName } from "./tab-channel.js";

/** The lock of the leader tab, and each tab's own lock, by which other tabs detect that it is alive. */
export interface LeaderLock {
  request(steal: boolean): void;
  /** Releases the lock, or cancels the request for it. */
  leave(): void;
  /** Stores the epoch for a later leader that knows of no other. */
  storeEpoch(epoch: number): void;
  /** Watches a tab: `onGone` is called once it is closed or has crashed. */
  watch(tab: string): void;
  close(): void;
}

export function createLeaderLock(options: {
  readonly locks: LockPort;
  /** Stores the last leader's epoch, for a tab that knows of none. */
  readonly storage: StoragePort | undefined;
  readonly scope: string;
  readonly tabId: string;
  readonly onGranted: (lastEpoch: number) => void;
  readonly onLost: () => void;
  /** A tab that was watched is gone. */
  readonly onGone: (tab: string) => void;
}): LeaderLock {
  const { locks, scope, storage } = options;
  const leaving = new AbortController();
  /** A tab that leads again and again waits for the lock of each other tab once. */
  const watched = new Set<string>();
  let queued: AbortController | undefined;
  /** The controller of the request that holds the lock. */
  let held: AbortController | undefined;
  let abdicate: (() => void) | undefined;

  function hold(tab: string, held: () => Promise<void>): void {
    locks.request(tabName(scope, tab), { signal: leaving.signal }, held).catch(() => {});
  }

  function lastEpoch(): number {
    try {
      return Number(storage?.getItem(`${scope}:epoch`)) || 0;
    } catch {
      return 0;
    }
  }

  function leave(): void {
    queued?.abort();
    abdicate?.();
  }

  hold(
    options.tabId,
    () => new Promise((resolve) => leaving.signal.addEventListener("abort", () => resolve())),
  );

  return {
    request(steal) {
      queued?.abort();
      const own = new AbortController();
      queued = own;
      const request = locks.request(`${scope}:leader`, { steal, signal: own.signal }, () => {
        if (leaving.signal.aborted) return Promise.resolve();
        held = own;
        return new Promise<void>((resolve) => {
          abdicate = resolve;
          options.onGranted(lastEpoch());
        });
      });
      request.catch(() => {
        // A lock that this tab stole from itself is not lost.
        if (held === own) options.onLost();
      });
    },
    leave,
    storeEpoch(epoch) {
      try {
        storage?.setItem(`${scope}:epoch`, String(epoch));
      } catch {
        // Full or forbidden: the epoch is derived from time alone.
      }
    },
    watch(tab) {
      if (watched.has(tab)) return;
      watched.add(tab);
      hold(tab, async () => {
        watched.delete(tab);
        options.onGone(tab);
      });
    },
    close() {
      leaving.abort();
      leave();
    },
  };
}
