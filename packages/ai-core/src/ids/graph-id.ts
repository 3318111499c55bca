import { z } from "zod";

/** What LangGraph projects call their graphs, `reactAgent` and `support.v2` among them. No name is a path: none begins with a dot. */
const GRAPH_NAME = "[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}";

export const graphNameSchema = z
  .string()
  .regex(
    new RegExp(`^${GRAPH_NAME}$`),
    "graphName must be 1–64 characters of A–Z, a–z, 0–9, _, - and ., and not begin with a dot",
  );

/** A graph's id, or its plain name, as `parseGraphId` takes them. */
export const GRAPH_ID_PATTERN = new RegExp(`^(?:langgraph:)?${GRAPH_NAME}$`);

export const GRAPH_PROVIDER_ID = "langgraph";

/** STABLE_GRAPH_IDS (docs/requirements.md#dev-1): the agent's id is the same whether it runs in this process, on a dev server or hosted. */
export function toGraphId(graphName: string): string {
  return `${GRAPH_PROVIDER_ID}:${graphNameSchema.parse(graphName)}`;
}

/** Accepts `langgraph:chat` and plain `chat`; gives `undefined` for anything else. */
export function parseGraphId(graphId: string): string | undefined {
  const prefix = `${GRAPH_PROVIDER_ID}:`;
  const name = graphId.startsWith(prefix) ? graphId.slice(prefix.length) : graphId;
  return graphNameSchema.safeParse(name).success ? name : undefined;
}
