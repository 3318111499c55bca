import type { AgentClient, AgentsSnapshot } from "@throughline/agent-client";
import { createContext, type ReactNode, useContext, useSyncExternalStore } from "react";

export interface AgentProviderProps {
  readonly client: AgentClient;
  readonly children?: ReactNode;
}

const ClientContext = createContext<AgentClient | undefined>(undefined);

/** Gives everything below it one client. It does not close it: a client lives as long as the page. */
export function AgentProvider({ client, children }: AgentProviderProps): ReactNode {
  return <ClientContext value={client}>{children}</ClientContext>;
}

export function useAgentClient(): AgentClient {
  return useClientFor("useAgentClient()");
}

/** The client, or a sentence that names who missed it. */
export function useClientFor(asker: string): AgentClient {
  const client = useContext(ClientContext);
  if (!client) throw new Error(`${asker} needs an <AgentProvider client={…}> above it.`);
  return client;
}

const UNASKED: AgentsSnapshot = { agents: undefined, failure: undefined };

/** The service's agents, asked for when the first component looks. */
export function useAgents(): AgentsSnapshot {
  const { agents } = useClientFor("useAgents()");
  return useSyncExternalStore(agents.subscribe, agents.getSnapshot, onServer);
}

function onServer(): AgentsSnapshot {
  return UNASKED;
}
