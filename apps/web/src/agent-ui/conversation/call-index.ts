"use client";

import type { CallView } from "@throughline/agent-client";
import { type StableThread, toolCallIdOf, useStablePart } from "./stable-thread";

/** An index over the calls of one run. */
export interface CallIndex {
  readonly run: CallView | undefined;
  /** The run and all calls below it. */
  readonly calls: readonly CallView[];
  /** The call of a tool call: its subagent where there is one, else the tool itself. */
  readonly workOfToolCall: ReadonlyMap<string, CallView>;
  childrenOf(call: CallView): readonly CallView[];
}

const NONE: readonly CallView[] = [];
const indexes = new WeakMap<readonly CallView[], CallIndex>();

/** Returns the index of a list of calls, cached by list so that all components share one pass. */
export function callIndex(calls: readonly CallView[]): CallIndex {
  const known = indexes.get(calls);
  if (known) return known;
  const made = makeIndex(calls);
  indexes.set(calls, made);
  return made;
}

function makeIndex(calls: readonly CallView[]): CallIndex {
  const workOfToolCall = new Map<string, CallView>();
  const children = new Map<string, CallView[]>();
  for (const call of calls) {
    if (call.kind === "run") continue;
    const siblings = call.parentId === null ? undefined : children.get(call.parentId);
    if (siblings) siblings.push(call);
    else if (call.parentId !== null) children.set(call.parentId, [call]);
    const toolCallId = toolCallIdOf(call);
    if (toolCallId === undefined) continue;
    if (call.kind === "subgraph" || !workOfToolCall.has(toolCallId)) workOfToolCall.set(toolCallId, call);
  }
  return {
    run: calls.find(({ kind }) => kind === "run"),
    calls,
    workOfToolCall,
    childrenOf: ({ callId }) => children.get(callId) ?? NONE,
  };
}

/** Whether a call is a quick internal step of the graph, with nothing to show. */
export function isPassing(call: CallView, index: CallIndex): boolean {
  return (
    call.kind === "node" &&
    call.status === "ok" &&
    call.progress === undefined &&
    index.childrenOf(call).length === 0 &&
    call.endedAt !== null &&
    call.endedAt - call.startedAt < 0.25
  );
}

/** The running calls, outermost first. Of parallel calls, the one that began last. */
export function activePath(run: CallView, index: CallIndex): readonly CallView[] {
  const next = index.childrenOf(run).findLast((call) => call.status === "running");
  return next ? [next, ...activePath(next, index)] : [];
}

/** The innermost call whose failure made the run fail. */
export function failedStep(run: CallView, index: CallIndex): CallView | undefined {
  if (run.status !== "error") return undefined;
  const next = index.childrenOf(run).findLast((call) => call.status === "error");
  return next && (failedStep(next, index) ?? next);
}

/** Counts the calls below a call, by kind. */
export function countWork(call: CallView, index: CallIndex): Readonly<Record<CallView["kind"], number>> {
  const counts = { run: 0, node: 0, subgraph: 0, model: 0, tool: 0 };
  const pending = [...index.childrenOf(call)];
  for (let one = pending.pop(); one; one = pending.pop()) {
    counts[one.kind] += 1;
    pending.push(...index.childrenOf(one));
  }
  return counts;
}

const NO_CALLS: readonly CallView[] = [];

/** Indexes the calls of one run. Rerenders only when one of those changes. */
export function useRunCalls(runId: string | undefined): CallIndex {
  return callIndex(useStablePart(runId ?? "", callsOfRun));
}

/** Indexes the calls of the run that made a tool call. */
export function useToolCalls(toolCallId: string): CallIndex {
  return callIndex(useStablePart(toolCallId, callsAround));
}

function callsOfRun({ byRun }: StableThread, runId: string): readonly CallView[] {
  return byRun.get(runId) ?? NO_CALLS;
}

function callsAround({ byRun }: StableThread, toolCallId: string): readonly CallView[] {
  const isIn = (calls: readonly CallView[]) => calls.some((call) => toolCallIdOf(call) === toolCallId);
  return [...byRun.values()].findLast(isIn) ?? NO_CALLS;
}
