import { latencyOf } from "./log-row";
import type { ThreadLogSnapshot } from "./thread-log";

const NEWEST = 50;

/** How late the newest entries were here, by their median: one slow one says little. */
export function latencyWords({ entries, count }: Pick<ThreadLogSnapshot, "entries" | "count">): string {
  const latencies = entries
    .slice(Math.max(0, count - NEWEST), count)
    .flatMap((entry) => latencyOf(entry) ?? [])
    .sort((a, b) => a - b);
  const median = latencies[Math.floor(latencies.length / 2)];
  return median === undefined ? "" : `${median} ms`;
}
