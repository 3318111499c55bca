"use client";

import { useThreadHandle } from "@throughline/agent-react";
import { useEffect, useEffectEvent } from "react";
import { type StableThread, stableThread } from "../agent-ui/conversation/stable-thread";

/** Refreshes when a run begins or ends, without a render. Deferred by a task: the frame that shows the run has enough to do. */
export function useRefreshOnRun(refresh: () => void): void {
  const thread = useThreadHandle();
  const onRun = useEffectEvent(refresh);
  useEffect(() => {
    const stable = stableThread(thread);
    let seen = runMoment(stable.getSnapshot());
    let due: ReturnType<typeof setTimeout> | undefined;
    const leave = stable.subscribe(() => {
      const now = runMoment(stable.getSnapshot());
      if (now === seen) return;
      seen = now;
      clearTimeout(due);
      due = setTimeout(onRun);
    });
    return () => {
      leave();
      clearTimeout(due);
    };
  }, [thread]);
}

function runMoment({ run }: StableThread): string {
  return `${run?.serviceRunId} ${run?.status}`;
}
