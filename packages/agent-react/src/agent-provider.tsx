import type { AccountApi, AgentClient, AgentsSnapshot } from "@throughline/agent-client";
import { createContext, type ReactNode, useContext, useSyncExternalStore } from "react";

export interface AgentProviderProps {
  readonly client: AgentClient;
  /** The service's own routes: `useThreads` and `useAttachments` need them. */
  readonly account?: AccountApi;
  readonly children?: ReactNode;
}

const ClientContext = createContext<AgentClient | undefined>(undefined);
const AccountContext = createContext<AccountApi | undefined>(undefined);

/** Gives everything below it one client. It does not close it: a client lives as long as the page. */
export function AgentProvider({ client, account, children }: AgentProviderProps): ReactNode {
  return (
    <ClientContext value={client}>
      <AccountContext value={account}>{children}</AccountContext>
    </ClientContext>
  );
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

export function useAccountFor(asker: string): AccountApi {
  const account = useContext(AccountContext);
  if (!account)
    throw new Error(`${asker} needs an <AgentProvider account={createAccountApi({ url: "…" })}> above it.`);
  return account;
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
