import type { RouteContext, RouteParts } from "./ingress.js";

/** What a client asks for first: which agents there are. The shape is CopilotKit's; capabilities are ours. */
export async function describeRuntime(
  c: RouteContext,
  parts: RouteParts,
  version: string,
): Promise<Response> {
  const agents = await parts.service.agents.listAgents();
  return c.json({
    version,
    mode: "sse",
    agents: Object.fromEntries(
      agents.map(({ graphId, name, description, capabilities, commands }) => [
        graphId,
        {
          name,
          description,
          className: "ThroughlineAgent",
          capabilities: { custom: { capabilities, commands } },
        },
      ]),
    ),
    audioFileTranscriptionEnabled: false,
    a2uiEnabled: false,
    openGenerativeUIEnabled: false,
  });
}
