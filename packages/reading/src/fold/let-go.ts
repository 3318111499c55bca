import type { CallName, CallTree, ProjectedCall } from "./fold-call.js";

export interface Eviction extends CallTree {
  /** Retained calls whose count of evicted calls grew. */
  readonly counted: readonly ProjectedCall[];
  /** The evicted calls, each with all calls below it. */
  readonly gone: readonly CallName[];
}

/**
 * Evicts `excess` closed calls, or as many as there are: whole subtrees, oldest first, each counted by its parent call
 * (`earlier`). Runs, open calls and their ancestors are retained. A subtree larger than the excess is retained and loses its
 * own oldest subtrees, so that work that has just ended does not disappear at once. O(calls).
 */
export function evictClosedCalls({ runs, calls }: CallTree, excess: number): Eviction {
  const tree = treeOf({ runs, calls });
  const counts = new Map<string, number>();
  const dropped = new Set<string>();
  const gone: CallName[] = [];
  let left = excess;

  function visit(siblings: readonly ProjectedCall[]): void {
    for (const call of siblings) {
      if (left <= 0) return;
      const below = tree.childrenOf(call);
      if (tree.isPinned(call) || tree.sizeOf(call) > left) visit(below);
      else drop(call);
    }
  }

  function drop(call: ProjectedCall): void {
    left -= tree.sizeOf(call);
    gone.push({ run_id: call.run_id, call_id: call.call_id });
    const above = tree.aboveOf(call);
    const count = deleteAll(call);
    if (above !== undefined) counts.set(above, (counts.get(above) ?? 0) + count);
  }

  /** Counts the calls that are evicted with this one, including those below it that were evicted before. */
  function deleteAll(call: ProjectedCall): number {
    dropped.add(keyOf(call));
    return tree.childrenOf(call).reduce((sum, child) => sum + deleteAll(child), 1 + (call.earlier ?? 0));
  }

  visit(tree.tops);
  if (gone.length === 0) return { runs, calls, counted: [], gone };
  const counted: ProjectedCall[] = [];
  const count = (call: ProjectedCall): ProjectedCall => {
    const more = counts.get(keyOf(call));
    if (more === undefined) return call;
    const next = { ...call, earlier: (call.earlier ?? 0) + more };
    counted.push(next);
    return next;
  };
  return {
    runs: runs.map(count),
    calls: calls.filter((call) => !dropped.has(keyOf(call))).map(count),
    counted,
    gone,
  };
}

function treeOf({ runs, calls }: CallTree) {
  const byKey = new Map([...runs, ...calls].map((call) => [keyOf(call), call]));
  const children = new Map<string, ProjectedCall[]>();
  const tops: ProjectedCall[] = [];
  const pinned = new Set<string>();
  const sizes = new Map<string, number>();

  /** The key of a call's parent. A call whose parent is not known belongs below its run. */
  function aboveOf(call: ProjectedCall): string | undefined {
    const parent = keyOf({ run_id: call.run_id, call_id: call.parent_id ?? call.run_id });
    if (byKey.has(parent)) return parent;
    const run = keyOf({ run_id: call.run_id, call_id: call.run_id });
    return byKey.has(run) ? run : undefined;
  }

  for (const call of calls) {
    const above = aboveOf(call);
    const parent = above === undefined ? undefined : byKey.get(above);
    if (above === undefined || parent?.kind === "run") tops.push(call);
    else push(children, above, call);
    if (call.status === "running") pin(call);
  }

  function pin(call: ProjectedCall): void {
    const key = keyOf(call);
    if (pinned.has(key)) return;
    pinned.add(key);
    const above = aboveOf(call);
    const parent = above === undefined ? undefined : byKey.get(above);
    if (parent) pin(parent);
  }

  const childrenOf = (call: ProjectedCall): readonly ProjectedCall[] => children.get(keyOf(call)) ?? [];

  function sizeOf(call: ProjectedCall): number {
    const key = keyOf(call);
    const known = sizes.get(key);
    if (known !== undefined) return known;
    const size = childrenOf(call).reduce((sum, child) => sum + sizeOf(child), 1);
    sizes.set(key, size);
    return size;
  }

  return { tops, aboveOf, childrenOf, sizeOf, isPinned: (call: ProjectedCall) => pinned.has(keyOf(call)) };
}

function push(lists: Map<string, ProjectedCall[]>, key: string, call: ProjectedCall): void {
  const list = lists.get(key);
  if (list) list.push(call);
  else lists.set(key, [call]);
}

function keyOf({ run_id, call_id }: CallName): string {
  return `${run_id} ${call_id}`;
}
