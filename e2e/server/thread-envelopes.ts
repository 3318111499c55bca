import { type Envelope, envelopeSchema } from "@throughline/ai-core";
import { readEvents } from "../../packages/langgraph-server/src/testing/sse-events.js";
import { agentRoutes } from "./rig/agent-routes.js";

/** All that a thread's log holds. */
export async function threadEnvelopes(
  url: string,
  agent: string,
  threadId: string,
): Promise<readonly Envelope[]> {
  const events = await readEvents(await agentRoutes(url).events(agent, threadId));
  return events.map(({ data }) => envelopeSchema.parse(data));
}
