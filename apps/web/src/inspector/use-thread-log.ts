"use client";

import { threadCall } from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import { useSyncExternalStore } from "react";
import { CLOSED_LOG, createThreadLog, type ThreadLog, type ThreadLogSnapshot } from "./thread-log";

/** By thread, so that whoever looks at the same log at the same time shares one stream. */
const logs = new WeakMap<object, ThreadLog>();

/** The thread's log, read while this is mounted. Renders with every frame in which something came. */
export function useThreadLog(): ThreadLogSnapshot {
  const handle = useThreadHandle();
  let log = logs.get(handle);
  if (!log) {
    log = createThreadLog({ url: `/api/throughline${threadCall(handle, "/events", { follow: "1" })}` });
    logs.set(handle, log);
  }
  return useSyncExternalStore(log.subscribe, log.getSnapshot, () => CLOSED_LOG);
}
