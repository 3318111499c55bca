import { createHash } from "node:crypto";
import { readString } from "@throughline/coerce";
import type { RunnableGraph } from "./runnable-graph.js";

const known = new WeakMap<RunnableGraph, string>();

/** A short text that is another one when a graph, or one inside it, has other nodes, other channels or other kinds of them. */
export function graphShape(graph: RunnableGraph): string {
  const shape = known.get(graph) ?? shapeOf(graph);
  known.set(graph, shape);
  return shape;
}

function shapeOf(graph: RunnableGraph): string {
  const hash = createHash("sha1").update(JSON.stringify(partsOf(graph)));
  for (const [name, inner] of graph.getSubgraphs(undefined, true)) {
    hash.update(JSON.stringify([name, partsOf(inner)]));
  }
  return hash.digest("base64url").slice(0, 12);
}

function partsOf({ nodes, channels }: Pick<RunnableGraph, "nodes" | "channels">): readonly unknown[] {
  const kinds = Object.entries(channels).map(([name, channel]) => [
    name,
    readString(channel, "lc_graph_name"),
  ]);
  return [Object.keys(nodes).sort(), kinds.sort()];
}
