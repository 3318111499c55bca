import type { StoragePort } from "../commands/pending-sync.js";
import type { LockPort } from "./ports.js";
import { tabName } from "./tab-channel.js";

/** The lock of the tab that leads, and each tab's own, by which the others know that it lives. */
export interface LeaderLock {
  request(steal: boolean): void;
  /** Gives the lock back, or the wish for it. */
  leave(): void;
  /** For a tab that leads later and has heard of no other. */
  keepEpoch(epoch: number): void;
  /** Tells when the tab is gone, however it went. */
  watch(tab: string): void;
  close(): void;
}

export function createLeaderLock(options: {
  readonly locks: LockPort;
  /** Keeps the last leader's epoch for a tab that has heard of none. */
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
  /** Of the lock that is held. */
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
        // One that this tab took from itself is not lost.
        if (held === own) options.onLost();
      });
    },
    leave,
    keepEpoch(epoch) {
      try {
        storage?.setItem(`${scope}:epoch`, String(epoch));
      } catch {
        // Full or forbidden: time alone has to do.
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
