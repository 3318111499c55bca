import type {
  AccountApi,
  AgentClient,
  AgentsSnapshot,
  ThreadHandle,
  ThreadName,
} from "@throughline/agent-client";
import { createContext, type ReactNode, useContext, useEffect, useRef, useSyncExternalStore } from "react";
import { shallowEqual } from "./use-selector.js";

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

/** Returns the client; without one, throws an error that names the caller. */
export function useClientFor(caller: string): AgentClient {
  const client = useContext(ClientContext);
  if (!client) throw new Error(`${caller} needs an <AgentProvider client={…}> above it.`);
  return client;
}

export function useAccountFor(caller: string): AccountApi {
  const account = useContext(AccountContext);
  if (!account)
    throw new Error(`${caller} needs an <AgentProvider account={createAccountApi({ url: "…" })}> above it.`);
  return account;
}

const NOT_LOADED: AgentsSnapshot = { agents: undefined, failure: undefined };

/** The service's agents, loaded when the first component subscribes. */
export function useAgents(): AgentsSnapshot {
  const { agents } = useClientFor("useAgents()");
  return useSyncExternalStore(agents.subscribe, agents.getSnapshot, onServer);
}

function onServer(): AgentsSnapshot {
  return NOT_LOADED;
}

export interface ThreadProviderProps extends ThreadName {
  /** `true`, the default: the thread's connection is open while mounted. */
  readonly live?: boolean;
  readonly children?: ReactNode;
}

const ThreadContext = createContext<ThreadHandle | undefined>(undefined);

/** The thread that everything below it is about. */
export function ThreadProvider({
  agentId,
  threadId,
  visibility,
  live = true,
  children,
}: ThreadProviderProps): ReactNode {
  const handle = useClientFor("<ThreadProvider>").thread(agentId, threadId, visibility);
  useRetained(() => (live ? handle.open() : undefined), [handle, live]);
  return <ThreadContext value={handle}>{children}</ThreadContext>;
}

export function useThreadHandle(): ThreadHandle {
  return useHandleFor("useThreadHandle()");
}

/** Returns the thread; without one, throws an error that names the caller. */
export function useHandleFor(caller: string): ThreadHandle {
  const handle = useContext(ThreadContext);
  if (!handle) throw new Error(`${caller} needs a <ThreadProvider agentId="…" threadId="…"> above it.`);
  return handle;
}

interface Retained {
  readonly about: readonly unknown[];
  readonly release: (() => void) | undefined;
  due: ReturnType<typeof setTimeout> | undefined;
}

/**
 * Acquires a resource while mounted. Release is deferred one tick, so that double effects, as of StrictMode and hot reloading,
 * retain it. When `about` changes, the new resource is acquired before the old one is released.
 */
export function useRetained(acquire: () => (() => void) | undefined, about: readonly unknown[]): void {
  const ref = useRef<Retained>(undefined);
  useEffect(() => {
    const before = ref.current;
    clearTimeout(before?.due);
    if (!before || !shallowEqual(before.about, about)) {
      ref.current = { about, release: acquire(), due: undefined };
      before?.release?.();
    }
    return () => {
      const retained = ref.current;
      if (!retained) return;
      retained.due = setTimeout(() => {
        ref.current = undefined;
        retained.release?.();
      }, 0);
    };
    // biome-ignore lint/correctness/useExhaustiveDependencies: the caller passes the dependencies of `acquire`.
  }, about);
}
