import type { Pregel } from "@langchain/langgraph/pregel";
import type { BaseCheckpointSaver, BaseStore } from "@langchain/langgraph-checkpoint";
import type { AgentCapability, KeyResolver, SubgraphShape } from "@throughline/ai-core";
import type { z } from "zod";

/** What a graph may need from the process it runs in. Nothing here is read at module load. */
export interface GraphDeps {
  readonly keys: KeyResolver;
  readonly checkpointer?: BaseCheckpointSaver;
  readonly store?: BaseStore;
}

/** The part of a compiled graph that its callers use, whatever its state is. */
// biome-ignore-start lint/suspicious/noExplicitAny: Pregel is invariant in its type parameters; callers never name them.
export type RunnableGraph = Pregel<any, any, any, any, any, any, any, any, any, any, any>;
// biome-ignore-end lint/suspicious/noExplicitAny: the line above is the only place.

/** One entry of `LANGGRAPH_CATALOG`: all that is known of a graph, and how to make it. */
export interface GraphDefinition {
  readonly graphName: string;
  readonly name: string;
  readonly description: string;
  readonly capabilities: readonly AgentCapability[];
  readonly commands: readonly string[];
  /** Questions that it answers well, also from its script. */
  readonly suggestions: readonly string[];
  /** What a caller may pass as input. */
  readonly inputSchema: z.ZodType;
  /** The final state, checked against real runs in tests and published in the descriptor. */
  readonly outputSchema: z.ZodType;
  /** Keys of each subgraph's final state, by the name of its node or subagent; checked against real runs in tests. */
  readonly subgraphs?: Readonly<Record<string, SubgraphShape>>;
  readonly create: (deps: GraphDeps) => RunnableGraph;
}
