import type { BaseCheckpointSaver, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { parseGraphId, ThroughlineError } from "@throughline/ai-core";
import { readArray, readString } from "@throughline/coerce";
import type { RunnableGraph } from "../graphs/runnable-graph.js";
import { pendingNodes } from "./pending-nodes.js";

/** How a graph no longer fits what a thread is about to run. */
export type GraphChange =
  /** There is no graph of this name any more. */
  | { readonly kind: "gone" }
  /** What the thread holds can't be applied to its state. */
  | { readonly kind: "unfit" }
  /** It lacks these nodes, named by their path; none where only the question of one is left and no name. */
  | { readonly kind: "lacks"; readonly nodes: readonly string[] };

export interface ChangeContext {
  readonly graph: Pick<RunnableGraph, "nodes" | "channels" | "getSubgraphs">;
  readonly saver: BaseCheckpointSaver;
  readonly threadId: string;
}

/** Paths of the nodes that a checkpoint, or one of a subgraph below it, is about to run and the graph does not have. */
export async function lackedNodes(
  { graph, saver, threadId }: ChangeContext,
  tuple: CheckpointTuple,
  snapshot: object,
  path: readonly string[] = [],
): Promise<readonly string[]> {
  const lacked = pendingNodes(tuple.checkpoint)
    .filter(({ node, channel }) => !(node in graph.nodes && channel in graph.channels))
    .map(({ node }) => [...path.map(nameOf), node].join("/"));
  for (const task of readArray(snapshot, "tasks")) {
    const name = readString(task, "name") ?? "";
    const [found] = graph.getSubgraphs(name);
    if (!found) continue;
    const ns = [...path, `${name}:${readString(task, "id") ?? ""}`];
    const below = await saver.getTuple({
      configurable: { thread_id: threadId, checkpoint_ns: ns.join("|") },
    });
    if (!below) continue;
    const state = Object(task).state ?? {};
    lacked.push(...(await lackedNodes({ graph: found[1], saver, threadId }, below, state, ns)));
  }
  return lacked;
}

function nameOf(segment: string): string {
  return segment.slice(0, segment.indexOf(":"));
}

/** What ends a run that can't go on because its graph changed. */
export function graphChanged(
  graphId: string,
  change: GraphChange,
  { asks, cause }: { readonly asks: boolean; readonly cause?: unknown },
): ThroughlineError {
  const name = `The graph "${parseGraphId(graphId) ?? graphId}"`;
  const nodes = change.kind === "lacks" ? change.nodes : [];
  const details = { graphId, ...(nodes.length > 0 && { nodes: [...nodes] }) };
  return new ThroughlineError("graph_changed", `${name} ${whatChanged()}`, { cause, details });

  function whatChanged(): string {
    switch (change.kind) {
      case "gone":
        return `no longer exists. ${asks ? "Decline the question, or bring the graph back." : "Bring it back to go on."}`;
      case "unfit":
        return `has another state now, and what this thread holds can't be applied to it. ${asks ? "Decline the question, and start" : "Start"} a new thread.`;
      case "lacks":
        return `no longer has ${lacked()}. ${asks ? "Decline the question or send" : "Send"} a new message.`;
    }
  }

  function lacked(): string {
    if (nodes.length === 0) return "the node that asked this question";
    const names = nodes.map((node) => `"${node}"`).join(", ");
    return `the ${nodes.length > 1 ? "nodes" : "node"} ${names} that this run ${asks ? "waits in" : "was about to run"}`;
  }
}
