import type { ThreadHandle, ThreadName } from "@throughline/agent-client";
import { createContext, type ReactNode, useContext } from "react";
import { useClientFor } from "./agent-provider.js";
import { useHeld } from "./use-held.js";

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
