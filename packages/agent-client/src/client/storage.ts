import type { Command } from "../commands/command.js";

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
  return {
    load(key: string): PendingSync | undefined {
      try {
        const stored: Partial<PendingSync> | null = JSON.parse(storage?.getItem(prefix + key) ?? "null");
        if (stored?.kind !== "sync" || typeof stored.id !== "string" || !stored.input) return undefined;
        return { kind: "sync", id: stored.id, input: stored.input };
      } catch {
        return undefined;
      }
    },
    save(key: string, sync: PendingSync | undefined): void {
      try {
        if (sync) storage?.setItem(prefix + key, JSON.stringify(sync));
        else storage?.removeItem(prefix + key);
      } catch {
        // See above.
      }
    },
  };
}

/** The browser's own, if there is one and it may be used. */
export function pageStorage(): StoragePort | undefined {
  try {
    // Newer Nodes have one too, for the whole process: nobody's own.
    return typeof window === "undefined" ? undefined : localStorage;
  } catch {
    return undefined;
  }
}
