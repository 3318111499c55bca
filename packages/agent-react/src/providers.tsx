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

export interface ThreadProviderProps extends ThreadName {
  /** `true`, the default: keeps the thread's connection open while mounted. */
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
  useHeld(() => (live ? handle.open() : undefined), [handle, live]);
  return <ThreadContext value={handle}>{children}</ThreadContext>;
}

export function useThreadHandle(): ThreadHandle {
  return useHandleFor("useThreadHandle()");
}

/** The thread, or a sentence that names who missed it. */
export function useHandleFor(asker: string): ThreadHandle {
  const handle = useContext(ThreadContext);
  if (!handle) throw new Error(`${asker} needs a <ThreadProvider agentId="…" threadId="…"> above it.`);
  return handle;
}

interface Held {
  readonly about: readonly unknown[];
  readonly letGo: (() => void) | undefined;
  due: ReturnType<typeof setTimeout> | undefined;
}

/**
 * Holds what `take` gives while mounted, and lets go a moment after: effects that are undone and done again at once, as
 * StrictMode and hot reloading do, hold on. Taken anew when `about` changes, the new before the old is let go.
 */
export function useHeld(take: () => (() => void) | undefined, about: readonly unknown[]): void {
  const ref = useRef<Held>(undefined);
  useEffect(() => {
    const before = ref.current;
    clearTimeout(before?.due);
    if (!before || !shallowEqual(before.about, about)) {
      ref.current = { about, letGo: take(), due: undefined };
      before?.letGo?.();
    }
    return () => {
      const held = ref.current;
      if (!held) return;
      held.due = setTimeout(() => {
        ref.current = undefined;
        held.letGo?.();
      }, 0);
    };
    // biome-ignore lint/correctness/useExhaustiveDependencies: the caller says what `take` is made of.
  }, about);
}
