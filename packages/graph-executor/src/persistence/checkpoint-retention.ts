/** How many checkpoints of a thread are kept. */
export interface CheckpointRetention {
  /** The newest of a thread, and of each subgraph that remembers from run to run. At least 1. */
  readonly keepNewest: number;
  /** Whatever is younger is kept beyond that count; absent: the count alone decides. */
  readonly keepYoungerMs?: number;
}

/** What of a stored checkpoint decides whether it is kept. */
export interface CheckpointFacts {
  /** Empty for the thread's own graph. */
  readonly ns: string;
  readonly id: string;
  readonly parentId: string | undefined;
  /** ISO 8601, by the clock of the instance that wrote it. */
  readonly at: string;
  /** Of a subgraph: the root checkpoint it ran under. */
  readonly rootId: string | undefined;
  readonly hasWrites: boolean;
  /** Some channel's value is read from the parent: it holds what a delta channel replays, or sends of an old format. */
  readonly needsParent: boolean;
}

/** Rows that were deleted, or would be, and what their values take. */
export interface CheckpointCounts {
  readonly checkpoints: number;
  readonly blobs: number;
  readonly writes: number;
  readonly bytes: number;
}

export const NO_CHECKPOINTS: CheckpointCounts = { checkpoints: 0, blobs: 0, writes: 0, bytes: 0 };

export function addCheckpointCounts(a: CheckpointCounts, b: CheckpointCounts): CheckpointCounts {
  return {
    checkpoints: a.checkpoints + b.checkpoints,
    blobs: a.blobs + b.blobs,
    writes: a.writes + b.writes,
    bytes: a.bytes + b.bytes,
  };
}

/**
 * The checkpoints of one thread that its retention lets go of, oldest first. `all` is the whole thread. Kept, beside the newest
 * and the young:
 *
 * - the end of a branch with pending writes: an open question, or tasks that are not done;
 * - the point where two kept branches part;
 * - the subgraphs' checkpoints below a kept one: a task that is resumed reads them. Each task of a subgraph has a namespace of
 *   its own, so a count per namespace would keep all of them;
 * - the parent of a kept one that is read with it (`needsParent`). No other parent is: LangGraph reads a checkpoint by its id,
 *   and takes the parent's id for a name.
 */
export function prunableCheckpoints(
  all: readonly CheckpointFacts[],
  { keepNewest, keepYoungerMs }: CheckpointRetention,
  now: number,
): readonly CheckpointFacts[] {
  const newestFirst = [...all].sort((a, b) => (a.id < b.id ? 1 : a.id > b.id ? -1 : 0));
  const byKey = new Map(newestFirst.map((checkpoint) => [keyOf(checkpoint.ns, checkpoint.id), checkpoint]));
  const children = new Map<string, CheckpointFacts[]>();
  for (const checkpoint of newestFirst) {
    const parent = parentKey(checkpoint);
    if (parent === undefined) continue;
    const siblings = children.get(parent);
    if (siblings) siblings.push(checkpoint);
    else children.set(parent, [checkpoint]);
  }
  const kept = new Set<string>();

  /** With every parent that is read with it. */
  function keep(checkpoint: CheckpointFacts): void {
    let next: CheckpointFacts | undefined = checkpoint;
    while (next && !kept.has(keyOf(next.ns, next.id))) {
      kept.add(keyOf(next.ns, next.id));
      const parent: string | undefined = next.needsParent ? parentKey(next) : undefined;
      next = parent === undefined ? undefined : byKey.get(parent);
    }
  }

  const ranks = new Map<string, number>();
  for (const checkpoint of newestFirst.filter(({ ns, rootId }) => isLasting(ns) || rootId === undefined)) {
    const { ns, id, at, hasWrites } = checkpoint;
    const rank = (ranks.get(ns) ?? 0) + 1;
    ranks.set(ns, rank);
    // A time that can't be read is no age.
    const isYoung = keepYoungerMs !== undefined && !(now - Date.parse(at) >= keepYoungerMs);
    const isOpen = hasWrites && !children.has(keyOf(ns, id));
    if (rank <= Math.max(1, keepNewest) || isYoung || isOpen) keep(checkpoint);
  }
  for (const [parent, branches] of children) {
    const base = byKey.get(parent);
    const keptBranches = branches.filter(({ ns, id }) => kept.has(keyOf(ns, id)));
    if (base && keptBranches.length > 1) keep(base);
  }
  for (const checkpoint of newestFirst) {
    const { ns, rootId } = checkpoint;
    if (ns !== "" && rootId !== undefined && kept.has(keyOf("", rootId))) keep(checkpoint);
  }
  return newestFirst.filter(({ ns, id }) => !kept.has(keyOf(ns, id))).reverse();
}

/** LangGraph names a subgraph that remembers without the ids of its tasks. */
function isLasting(ns: string): boolean {
  return !ns.includes(":");
}

function keyOf(ns: string, id: string): string {
  return `${ns}\n${id}`;
}

function parentKey({ ns, parentId }: CheckpointFacts): string | undefined {
  return parentId === undefined ? undefined : keyOf(ns, parentId);
}
