import { MessagesValue, StateSchema } from "@langchain/langgraph";
import type { Pregel } from "@langchain/langgraph/pregel";
import type { BaseCheckpointSaver, BaseStore } from "@langchain/langgraph-checkpoint";
import type { AgentCapability, KeyResolver, SubgraphShape } from "@throughline/ai-core";
import { z } from "zod";

/** A state that is a conversation and nothing else. A `StateSchema`, because servers can read its schema at run time. */
export const ConversationState = new StateSchema({ messages: MessagesValue });

/** The dependencies of a graph on the process it runs in. Nothing here is read at module load. */
export interface GraphDeps {
  readonly keys: KeyResolver;
  readonly checkpointer?: BaseCheckpointSaver;
  readonly store?: BaseStore;
}

/** The part of a compiled graph that its callers use, whatever its state is. */
// biome-ignore-start lint/suspicious/noExplicitAny: Pregel is invariant in its type parameters; callers never name them.
export type RunnableGraph = Pregel<any, any, any, any, any, any, any, any, any, any, any>;
// biome-ignore-end lint/suspicious/noExplicitAny: the line above is the only one.

/** One entry of `LANGGRAPH_CATALOG`: all that is known of a graph, and how to make it. */
export interface GraphDefinition {
  readonly graphName: string;
  readonly name: string;
  readonly description: string;
  readonly capabilities: readonly AgentCapability[];
  readonly commands: readonly string[];
  /** Questions that it answers well, also from its script. */
  readonly suggestions: readonly string[];
  /** The schema of a caller's input. */
  readonly inputSchema: z.ZodType;
  /** The final state, checked against real runs in tests and published in the descriptor. */
  readonly outputSchema: z.ZodType;
  /** Keys of each subgraph's final state, by the name of its node or subagent; checked against real runs in tests. */
  readonly subgraphs?: Readonly<Record<string, SubgraphShape>>;
  readonly create: (deps: GraphDeps) => RunnableGraph;
}

const contentSchema = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]);

/** A message as callers send it: with `role` as most people write it, or with `type` as LangGraph stores it. */
export const messageInputSchema = z.union([
  z.object({
    role: z.enum(["user", "human", "assistant", "ai", "system", "tool"]),
    content: contentSchema,
    id: z.string().optional(),
  }),
  z.object({
    type: z.enum(["human", "ai", "system", "tool"]),
    content: contentSchema,
    id: z.string().optional(),
  }),
]);

/** A message of a final state, the same for a message object of this process and for its JSON from a server. */
export const messageSchema = z.object({
  type: z.enum(["human", "ai", "system", "tool"]),
  content: contentSchema,
  id: z.string().optional(),
  name: z.string().optional(),
  tool_calls: z
    .array(z.object({ id: z.string().optional(), name: z.string(), args: z.record(z.string(), z.unknown()) }))
    .optional(),
  tool_call_id: z.string().optional(),
  status: z.enum(["success", "error"]).optional(),
});

/** Input and final state of a graph whose whole state is its conversation. */
export const conversationInputSchema = z.object({ messages: z.array(messageInputSchema).min(1) });
export const conversationStateSchema = z.object({ messages: z.array(messageSchema) });

/** The compile options a graph takes from its process; absent ones stay absent, so a server can set its own. */
export function persistence(deps: GraphDeps): { checkpointer?: BaseCheckpointSaver; store?: BaseStore } {
  return {
    ...(deps.checkpointer ? { checkpointer: deps.checkpointer } : {}),
    ...(deps.store ? { store: deps.store } : {}),
  };
}
