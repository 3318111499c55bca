"use client";

import type { CallView } from "@throughline/agent-client";
import { toolCallIdOf } from "../settled/calls-by-run";
import type { SettledThread } from "../settled/settled-thread";
import { useSettledPart } from "../settled/use-settled-thread";
import { type CallIndex, callIndex } from "./call-index";

const NONE: readonly CallView[] = [];

/** The calls of one run. Renders when one of those changes, and with no other run's. */
export function useRunCalls(runId: string | undefined): CallIndex {
  return callIndex(useSettledPart(runId ?? "", callsOfRun));
}

/** The same, of the run that made a tool call. */
export function useToolCalls(toolCallId: string): CallIndex {
  return callIndex(useSettledPart(toolCallId, callsAround));
}

function callsOfRun({ byRun }: SettledThread, runId: string): readonly CallView[] {
  return byRun.get(runId) ?? NONE;
}

function callsAround({ byRun }: SettledThread, toolCallId: string): readonly CallView[] {
  const isIn = (calls: readonly CallView[]) => calls.some((call) => toolCallIdOf(call) === toolCallId);
  return [...byRun.values()].findLast(isIn) ?? NONE;
}
