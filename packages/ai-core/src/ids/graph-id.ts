import { z } from "zod";

export const graphNameSchema = z
  .string()
  .regex(/^[a-z0-9_-]{1,64}$/, "graphName must be 1–64 characters of a–z, 0–9, _ and -");

export const GRAPH_PROVIDER_ID = "langgraph";

/** STABLE_GRAPH_IDS: the agent's id is the same whether it runs in this process, on a dev server or hosted. */
export function toGraphId(graphName: string): string {
  return `${GRAPH_PROVIDER_ID}:${graphNameSchema.parse(graphName)}`;
}

/** Accepts `langgraph:chat` and plain `chat`; gives `undefined` for anything else. */
export function parseGraphId(graphId: string): string | undefined {
  const prefix = `${GRAPH_PROVIDER_ID}:`;
  const name = graphId.startsWith(prefix) ? graphId.slice(prefix.length) : graphId;
  return graphNameSchema.safeParse(name).success ? name : undefined;
}
