import { agentCapabilitySchema } from "@throughline/ai-core";
import { z } from "zod";
import type { RouteContext, RouteParts } from "../http/ingress.js";
import { THREAD_ENDPOINTS } from "./copilotkit-threads.js";

const threadEndpointsSchema = z.object({
  list: z.boolean(),
  inspect: z.boolean(),
  mutations: z.boolean(),
  realtimeMetadata: z.boolean(),
});

export const runtimeInfoSchema = z.object({
  version: z.string(),
  mode: z.literal("sse"),
  agents: z.record(
    z.string(),
    z.object({
      name: z.string(),
      description: z.string(),
      className: z.string(),
      capabilities: z.object({
        custom: z.object({ capabilities: z.array(agentCapabilitySchema), commands: z.array(z.string()) }),
      }),
    }),
  ),
  audioFileTranscriptionEnabled: z.boolean(),
  a2uiEnabled: z.boolean(),
  openGenerativeUIEnabled: z.boolean(),
  threadEndpoints: threadEndpointsSchema,
  singleRoute: z.object({ resourceOperations: z.boolean(), threadEndpoints: threadEndpointsSchema }),
});

/** What a client asks for first: which agents there are. The shape is CopilotKit's; capabilities are ours. */
export async function describeRuntime(
  c: RouteContext,
  parts: RouteParts,
  version: string,
): Promise<Response> {
  const agents = await parts.service.agents.listAgents();
  const answer: z.output<typeof runtimeInfoSchema> = {
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
    threadEndpoints: THREAD_ENDPOINTS,
    singleRoute: { resourceOperations: true, threadEndpoints: THREAD_ENDPOINTS },
  };
  return c.json(answer);
}
