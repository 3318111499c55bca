import { allFeatures, createAccountApi, createAgentClient } from "@throughline/agent-client";
import type { ReactNode } from "react";
import { AgentProvider, ThreadProvider } from "../../index.js";

const client = createAgentClient({ url: "/api/copilotkit", ...allFeatures });
const account = createAccountApi({ url: "/api/throughline" });

export const Providers = ({ children }: { children: ReactNode }) => (
  <AgentProvider client={client} account={account}>
    <ThreadProvider agentId="langgraph:poet" threadId="rivers">
      {children}
    </ThreadProvider>
  </AgentProvider>
);
