import type { Command } from "./command.js";
import { isNewer } from "./mutation-ids.js";

export type PendingSync = Extract<Command, { kind: "sync" }>;

/** Storage that survives a reload. `localStorage` fits. */
export interface StoragePort {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

export function createMemoryStorage(): StoragePort {
  const items = new Map<string, string>();
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
  };
}

/** Stores the unacknowledged `sync` of each thread. With a full or forbidden storage, only a reload loses it. */
export function createPendingSyncs(storage: StoragePort | undefined, prefix: string) {
  /** The newest id that this tab has stored, by thread. */
  const saved = new Map<string, string>();

  function load(key: string): PendingSync | undefined {
    try {
      const stored: Partial<PendingSync> | null = JSON.parse(storage?.getItem(prefix + key) ?? "null");
      if (stored?.kind !== "sync" || typeof stored.id !== "string" || !stored.input) return undefined;
      return { kind: "sync", id: stored.id, input: stored.input };
    } catch {
      return undefined;
    }
  }

  return {
    load,
    /** Stores or removes the `sync`. Where tabs do not share, another tab may have stored a newer one, which is retained. */
    save(key: string, sync: PendingSync | undefined): void {
      const stored = load(key);
      const own = sync?.id ?? saved.get(key);
      if (stored && own !== undefined && isNewer(stored.id, own)) return;
      try {
        if (sync) {
          storage?.setItem(prefix + key, JSON.stringify(sync));
          saved.set(key, sync.id);
        } else {
          storage?.removeItem(prefix + key);
          saved.delete(key);
        }
      } catch {
        // See above.
      }
    },
  };
}

/** The browser's `localStorage`, if it exists and is accessible. */
export function pageStorage(): StoragePort | undefined {
  try {
    // Newer Nodes have one too, but the whole process shares it.
    return typeof window === "undefined" ? undefined : localStorage;
  } catch {
    return undefined;
  }
}
