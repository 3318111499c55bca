import { CopilotRuntime, createCopilotRuntimeHandler } from "@copilotkit/runtime/v2";
import { withClientCompatibility } from "@throughline/client-compatibility";
import { ThroughlineRunner } from "@throughline/copilotkit-runner";
import { TravelAgent } from "../../../../agent/travel-agent";

const databaseUrl = process.env.DATABASE_URL;

const runtime = new CopilotRuntime({
  // The agent asks with AG-UI's interrupt outcome; the chat's useInterrupt knows on_interrupt as well.
  agents: { travel: withClientCompatibility(new TravelAgent()) },
  // The one line that makes runs outlive their request, their tab and, with your own PostgreSQL, their process.
  runner: new ThroughlineRunner({
    store: databaseUrl ? { kind: "postgres", databaseUrl } : { kind: "embedded" },
  }),
});

const handler = createCopilotRuntimeHandler({ runtime, basePath: "/api/copilotkit" });

export { handler as DELETE, handler as GET, handler as PATCH, handler as POST };
