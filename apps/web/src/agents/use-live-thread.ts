"use client";

import type { ThreadSnapshot } from "@throughline/agent-client";
import { useAgentClient } from "@throughline/agent-react";
import { useDeferredValue, useEffect, useMemo, useSyncExternalStore } from "react";
import { type LiveThread, liveStatus } from "./agent-status";

/**
 * How a thread stands, by its stream where its page is open and by polls where not. `undefined` name: none to ask about. Lists
 * show it after the frame in which the thread's own page does: that one has enough to do.
 */
export function useLiveThread(
  agentId: string,
  {
    threadName,
    visibility,
  }: { readonly threadName?: string | undefined; readonly visibility?: "account" | undefined },
): LiveThread | undefined {
  const client = useAgentClient();
  const handle = threadName === undefined ? undefined : client.thread(agentId, threadName, visibility);
  useEffect(
    () =>
      threadName === undefined ? undefined : client.watch([{ agentId, threadId: threadName, visibility }]),
    [client, agentId, threadName, visibility],
  );
  const status = useSyncExternalStore(
    handle?.subscribe ?? never,
    () => handle && statusOf(handle.getSnapshot()),
    () => undefined,
  );
  const live = useMemo(
    () => (threadName === undefined || status === undefined ? undefined : { threadName, visibility, status }),
    [threadName, visibility, status],
  );
  return useDeferredValue(live);
}

function statusOf({ view }: ThreadSnapshot) {
  return liveStatus(view.run, view.interrupts.length > 0);
}

function never(): () => void {
  return () => {};
}
