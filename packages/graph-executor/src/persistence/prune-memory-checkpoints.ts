import { MemorySaver, TASKS } from "@langchain/langgraph-checkpoint";
import { isJsonObject, read, readNumber, readString } from "@throughline/coerce";
import {
  type CheckpointCounts,
  type CheckpointFacts,
  type CheckpointRetention,
  NO_CHECKPOINTS,
  prunableCheckpoints,
} from "./checkpoint-retention.js";
import type { Checkpointer } from "./checkpointer.js";

export interface MemoryPruneRequest {
  readonly threadId: string;
  readonly retention: CheckpointRetention;
  readonly now: number;
  /** Counts what would go and deletes nothing. */
  readonly isDryRun: boolean;
}

/**
 * Deletes what a thread's retention lets go of from checkpoints that are kept in memory, in one go: nothing else runs
 * meanwhile. Values lie within their checkpoints there, so there are no blobs.
 */
export function pruneMemoryCheckpoints(
  { saver }: Checkpointer,
  { threadId, retention, now, isDryRun }: MemoryPruneRequest,
): CheckpointCounts {
  if (!(saver instanceof MemorySaver)) return NO_CHECKPOINTS;
  const { storage, writes } = saver;
  const namespaces = storage[threadId] ?? {};
  const writesAt = (ns: string, id: string) =>
    Object.values(writes[JSON.stringify([threadId, ns, id])] ?? {});
  const all = Object.entries(namespaces).flatMap(([ns, checkpoints]) =>
    Object.entries(checkpoints).map(([id, [checkpoint, metadata, parentId]]): CheckpointFacts => {
      const stored = parsed(checkpoint);
      const about = parsed(metadata);
      const counters = read(about, "counters_since_delta_snapshot");
      const parentWrites = parentId === undefined ? [] : writesAt(ns, parentId);
      return {
        ns,
        id,
        parentId,
        at: readString(stored, "ts") ?? "",
        rootId: readString(read(about, "parents"), ""),
        hasWrites: writesAt(ns, id).length > 0,
        needsParent:
          (isJsonObject(counters) && Object.keys(counters).length > 0) ||
          ((readNumber(stored, "v") ?? 4) < 4 && parentWrites.some(([, channel]) => channel === TASKS)),
      };
    }),
  );
  let counts = NO_CHECKPOINTS;
  for (const { ns, id } of prunableCheckpoints(all, retention, now)) {
    const [checkpoint, metadata] = namespaces[ns]?.[id] ?? [];
    const gone = writesAt(ns, id);
    const bytes = [checkpoint, metadata, ...gone.map(([, , value]) => value)];
    counts = {
      checkpoints: counts.checkpoints + 1,
      blobs: 0,
      writes: counts.writes + gone.length,
      bytes: bytes.reduce((sum, part) => sum + (part?.byteLength ?? 0), counts.bytes),
    };
    if (isDryRun) continue;
    delete namespaces[ns]?.[id];
    delete writes[JSON.stringify([threadId, ns, id])];
  }
  return counts;
}

function parsed(bytes: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(bytes));
}
