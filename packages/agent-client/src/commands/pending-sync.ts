import type { Command } from "./command.js";
import { isNewer } from "./mutation-ids.js";

export type PendingSync = Extract<Command, { kind: "sync" }>;

/** What survives a reload. `localStorage` fits. */
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

/** The `sync` a thread still owes the service. A full or forbidden storage costs only the reload's memory. */
export function createPendingSyncs(storage: StoragePort | undefined, prefix: string) {
  /** The newest that this tab has kept, by thread. */
  const kept = new Map<string, string>();

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
    /** Where tabs do not share, another one may have kept a newer one: that stays. */
    save(key: string, sync: PendingSync | undefined): void {
      const stored = load(key);
      const own = sync?.id ?? kept.get(key);
      if (stored && own !== undefined && isNewer(stored.id, own)) return;
      try {
        if (sync) {
          storage?.setItem(prefix + key, JSON.stringify(sync));
          kept.set(key, sync.id);
        } else {
          storage?.removeItem(prefix + key);
          kept.delete(key);
        }
      } catch {
        // See above.
      }
    },
  };
}

/** The browser's own, if there is one and it may be used. */
export function pageStorage(): StoragePort | undefined {
  try {
    // Newer Nodes have one too, but the whole process shares it.
    return typeof window === "undefined" ? undefined : localStorage;
  } catch {
    return undefined;
  }
}
