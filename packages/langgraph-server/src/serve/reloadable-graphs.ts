import type { GraphSource } from "@throughline/graph-executor";

/** Graphs that can be exchanged while the server runs: a run in flight keeps the graph it began with. */
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
