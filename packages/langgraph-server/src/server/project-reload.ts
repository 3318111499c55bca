import { type FSWatcher, readdirSync, watch } from "node:fs";
import { join } from "node:path";
import type { Clock, Timer } from "@throughline/ai-core";
import type { GraphSource } from "@throughline/graph-executor";

export interface WatchedFolder {
  close(): void;
}

const DEBOUNCE_MS = 150;
const SOURCES = /\.([cm]?[jt]sx?|json)$|(^|[\\/])\.env[^\\/]*$/;

/**
 * Notifies, once per burst, when sources below a folder change. Folder by folder and not recursively, because Node would watch
 * node_modules too; folders rather than files, because editors save a file by replacing it.
 */
export function watchFolder(
  root: string,
  { clock, onChange }: { readonly clock: Clock; readonly onChange: () => void },
): WatchedFolder {
  const watchers = new Map<string, FSWatcher>();
  let timer: Timer | undefined;

  function watchBelow(folder: string): void {
    if (!watchers.has(folder)) {
      try {
        const watcher = watch(folder, (_, file) => noticed(file));
        watcher.on("error", () => forget(folder));
        watchers.set(folder, watcher);
      } catch {
        // Deleted meanwhile, or not readable.
        return;
      }
    }
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const isSource = entry.isDirectory() && !entry.name.startsWith(".") && entry.name !== "node_modules";
      if (isSource) watchBelow(join(folder, entry.name));
    }
  }

  function forget(folder: string): void {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  }

  function noticed(file: string | null): void {
    // A name without an extension may be a new folder with sources.
    if (file?.includes(".") && !SOURCES.test(file)) return;
    timer?.cancel();
    timer = clock.schedule(DEBOUNCE_MS, () => {
      watchBelow(root);
      onChange();
    });
  }

  watchBelow(root);
  return {
    close() {
      timer?.cancel();
      for (const folder of [...watchers.keys()]) forget(folder);
    },
  };
}

/** Graphs that can be replaced while the server runs. A run in flight continues with the graph it began with. */
export interface ReloadableGraphs {
  readonly source: GraphSource;
  replace(next: GraphSource): void;
}

export function reloadableGraphs(first: GraphSource): ReloadableGraphs {
  let current = first;
  return {
    source: {
      list: () => current.list(),
      open: (graphName, opening) => current.open(graphName, opening),
    },
    replace(next) {
      current = next;
    },
  };
}
