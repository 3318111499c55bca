"use client";

import { useThreadHandle } from "@throughline/agent-react";
import { useEffect, useEffectEvent } from "react";
import { type SettledThread, settledThread } from "./settled-thread";

/** Asks again when a run begins or ends. Renders nothing, and not within the frame that shows it, which has enough to do. */
export function useRefreshOnRun(refresh: () => void): void {
  const thread = useThreadHandle();
  const onRun = useEffectEvent(refresh);
  useEffect(() => {
    const settled = settledThread(thread);
    let seen = runMoment(settled.getSnapshot());
    let due: ReturnType<typeof setTimeout> | undefined;
    const leave = settled.subscribe(() => {
      const now = runMoment(settled.getSnapshot());
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

function runMoment({ run }: SettledThread): string {
  return `${run?.serviceRunId} ${run?.status}`;
}
