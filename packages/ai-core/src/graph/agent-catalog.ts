import { z } from "zod";
import { GRAPH_ID_PATTERN, GRAPH_PROVIDER_ID, graphNameSchema } from "../ids.js";
import { jsonObjectSchema } from "../json/json.js";

export const AGENT_CAPABILITIES = [
  "chat",
  "tools",
  "reasoning",
  "interrupts",
  "subgraphs",
  "subagents",
  "files",
  "commands",
  "background",
] as const;
export const agentCapabilitySchema = z.enum(AGENT_CAPABILITIES);
export type AgentCapability = z.infer<typeof agentCapabilitySchema>;

const stateKeySchema = z.string().min(1).max(128);

/** Which keys of a subgraph's final state hold its conversation, its files and its further results. */
export const subgraphShapeSchema = z.strictObject({
  /** Default: `messages`. */
  messages: stateKeySchema.optional(),
  /** Default: `files`. */
  files: stateKeySchema.optional(),
  /** Keys that are results of their own, as an itinerary is. */
  output: z.array(stateKeySchema).max(32).optional(),
});
export type SubgraphShape = z.infer<typeof subgraphShapeSchema>;
export const subgraphShapesSchema = z.record(z.string().min(1).max(128), subgraphShapeSchema);

/** The description of an agent for people and clients, known before it runs. The schemas are JSON Schema documents. */
export const graphDescriptorSchema = z.object({
  /** STABLE_GRAPH_IDS: `langgraph:{graphName}`, independent of the backend that runs it. */
  graphId: z.string().startsWith(`${GRAPH_PROVIDER_ID}:`).regex(GRAPH_ID_PATTERN),
  graphName: graphNameSchema,
  name: z.string().min(1),
  description: z.string(),
  capabilities: z.array(agentCapabilitySchema),
  /** Names of commands this agent understands besides plain runs. */
  commands: z.array(z.string()),
  inputSchema: jsonObjectSchema,
  outputSchema: jsonObjectSchema,
  /** Keys that a run may configure it with; absent where they are not known, without properties where it declares none. */
  contextSchema: jsonObjectSchema.optional(),
  /** The model of runs that name none, in place of the account's. Counts only where the context schema declares `model`. */
  model: z.string().min(1).max(128).optional(),
  /** Example questions for the agent, for people who use it for the first time. */
  suggestions: z.array(z.string().min(1).max(200)).max(10).optional(),
  /** Whether it has a script, from which it replies where no model is configured. */
  hasScript: z.boolean().optional(),
  /** Keys of its subgraphs' final states, by the name of the node or subagent: the log's `tool_end` reads its result by them. */
  subgraphs: subgraphShapesSchema.optional(),
});
export type GraphDescriptor = z.infer<typeof graphDescriptorSchema>;

export interface AgentCatalogPort {
  listAgents(): Promise<readonly GraphDescriptor[]>;
  /** `undefined` when no such agent exists. */
  getAgent(graphId: string): Promise<GraphDescriptor | undefined>;
}
