"use client";

import { useThread } from "@throughline/agent-react";
import { useEffect, useRef } from "react";

/** Asks again when a run begins or ends, instead of waiting for the next round. */
export function useRefreshOnRun(refresh: () => void): void {
  const moment = useThread(({ view }) => `${view.run?.serviceRunId} ${view.run?.status}`);
  const seen = useRef(moment);
  useEffect(() => {
    if (seen.current === moment) return;
    seen.current = moment;
    refresh();
  }, [moment, refresh]);
}
