import { z } from "zod";
import { type JsonObject, jsonObjectSchema } from "../json/json.js";
import type { GraphDescriptor } from "./agent-catalog.js";

/** The highest `recursion_limit` that a run or a langgraph.json may set. */
export const MAX_RECURSION_LIMIT = 10_000;

/**
 * Configuration of a run, in the names of LangGraph's own API. Keys of `configurable` must be declared by the graph's context
 * schema; the graph finds them in `config.configurable` and in `runtime.context`.
 */
export const runConfigSchema = z.strictObject({
  recursion_limit: z
    .number()
    .int()
    .min(1)
    .max(MAX_RECURSION_LIMIT)
    .optional()
    .describe("The most supersteps of the run. Default: the graph's own, else LangGraph's 25."),
  tags: z.array(z.string().min(1).max(256)).max(50).optional().describe("Tags of its traces."),
  metadata: jsonObjectSchema.optional().describe("Metadata of its traces and checkpoints."),
  configurable: jsonObjectSchema
    .optional()
    .describe("Keys that the graph's context schema declares. Given as `configurable` and as `context`."),
});
export type RunConfig = z.infer<typeof runConfigSchema>;

/** Keys of `configurable` that the service or LangGraph itself writes: no run, and no langgraph.json, may set them. */
export const RESERVED_CONFIG_KEYS: ReadonlySet<string> = new Set([
  "thread_id",
  "run_id",
  "checkpoint_id",
  "checkpoint_ns",
  "checkpoint_map",
  "assistant_id",
  "graph_id",
  "langgraph_auth_user",
  "langgraph_auth_user_id",
  "langgraph_auth_permissions",
  "langgraph_request_id",
  "virtualKeyId",
  "billingAccountId",
  "runId",
  "attempt",
  "ingressRequestId",
  "traceId",
  "executorType",
  "ag-ui",
  "command",
]);

/** Whether a key of `configurable` is reserved. LangGraph's internal keys begin with two underscores. */
export function isReservedConfigKey(key: string): boolean {
  return RESERVED_CONFIG_KEYS.has(key) || key.startsWith("__");
}

/** The keys that a graph's context schema declares; `undefined` where its schema is not known. */
export function contextKeysOf(agent: Pick<GraphDescriptor, "contextSchema">): readonly string[] | undefined {
  return agent.contextSchema && Object.keys(contextPropertiesOf(agent.contextSchema));
}

/** The JSON Schema of each key of a context schema. */
export function contextPropertiesOf(contextSchema: JsonObject): JsonObject {
  const { properties } = contextSchema;
  return typeof properties === "object" && properties !== null && !Array.isArray(properties)
    ? properties
    : {};
}

/** Whether a graph's context schema declares `model`; `undefined` where its schema is not known. */
export function acceptsModel(agent: Pick<GraphDescriptor, "contextSchema">): boolean | undefined {
  return contextKeysOf(agent)?.includes("model");
}
