import { throughline } from "../../../lib/throughline";

/** AG-UI and CopilotKit lie at `/api/copilotkit`, the AI SDK at `/api/ai-sdk`. */
async function answer(request: Request): Promise<Response> {
  return (await throughline()).fetch(request);
}

export { answer as DELETE, answer as GET, answer as PATCH, answer as POST, answer as PUT };
