import {
  type AgentCatalogPort,
  type GraphDescriptor,
  parseGraphId,
  ThroughlineError,
  toGraphId,
} from "@throughline/ai-core";

/** The agent of this name, `langgraph:chat` or plain `chat`; throws `not_found` with the names there are. */
export async function requireAgent(agents: AgentCatalogPort, id: string): Promise<GraphDescriptor> {
  const graphName = parseGraphId(id);
  const agent = graphName === undefined ? undefined : await agents.getAgent(toGraphId(graphName));
  if (agent) return agent;
  const available = (await agents.listAgents()).map((each) => each.graphName);
  throw new ThroughlineError(
    "not_found",
    `Unknown agent "${graphName ?? id}". Available: ${available.join(", ") || "none"}.`,
    { details: { agent: id, available } },
  );
}
