"use client";

import type { ThreadSnapshot } from "@throughline/agent-client";
import { shallowEqual, useThread } from "@throughline/agent-react";
import { useCallback } from "react";
import { type CallIndex, callIndex } from "./call-index";

/** The calls of one run. Renders when one of those changes, and with no other run's. */
export function useRunCalls(runId: string | undefined): CallIndex {
  const select = useCallback(
    ({ view }: ThreadSnapshot) => callIndex(view.calls).callsOf(runId ?? ""),
    [runId],
  );
  return callIndex(useThread(select, shallowEqual));
}

/** The same, of the run that made a tool call. */
export function useToolCalls(toolCallId: string): CallIndex {
  const select = useCallback(
    ({ view }: ThreadSnapshot) => {
      const index = callIndex(view.calls);
      return index.callsOf(index.runOfToolCall.get(toolCallId) ?? "");
    },
    [toolCallId],
  );
  return callIndex(useThread(select, shallowEqual));
}
