"use client";

import { useThreadHandle } from "@throughline/agent-react";
import { useSyncExternalStore } from "react";
import { CLOSED_LOG, createThreadLog, type ThreadLog, type ThreadLogSnapshot } from "./thread-log";

/** By thread, so that all who look at the same log at the same time share one reading of it. */
const logs = new WeakMap<object, ThreadLog>();

/** The thread's log, read while this is mounted. Renders with every frame in which something came. */
export function useThreadLog(): ThreadLogSnapshot {
  const handle = useThreadHandle();
  let log = logs.get(handle);
  if (!log) {
    log = createThreadLog({ readLog: handle.readLog });
    logs.set(handle, log);
  }
  return useSyncExternalStore(log.subscribe, log.getSnapshot, () => CLOSED_LOG);
}
