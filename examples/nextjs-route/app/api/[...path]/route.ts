import { forward } from "../../../lib/forward";

export const dynamic = "force-dynamic";

/** AG-UI and CopilotKit are at `/api/copilotkit`, the AI SDK at `/api/ai-sdk`, as on the service. */
export { forward as DELETE, forward as GET, forward as PATCH, forward as POST, forward as PUT };
