"use client";

import { shallowEqual } from "@throughline/agent-react";
import { useCallback } from "react";
import type { SettledThread } from "../settled/settled-thread";
import { useSettledThread } from "../settled/use-settled-thread";
import { type CallIndex, callIndex } from "./call-index";

/** The calls of one run. Renders when one of those changes, and with no other run's. */
export function useRunCalls(runId: string | undefined): CallIndex {
  const select = useCallback(({ calls }: SettledThread) => callIndex(calls).callsOf(runId ?? ""), [runId]);
  return callIndex(useSettledThread(select, shallowEqual));
}

/** The same, of the run that made a tool call. */
export function useToolCalls(toolCallId: string): CallIndex {
  const select = useCallback(
    ({ calls }: SettledThread) => {
      const index = callIndex(calls);
      return index.callsOf(index.runOfToolCall.get(toolCallId) ?? "");
    },
    [toolCallId],
  );
  return callIndex(useSettledThread(select, shallowEqual));
}
