import type { CallView } from "@throughline/agent-client";
import { shallowEqual } from "@throughline/agent-react";

/** By run, in the order they began: the run and all its work. */
export type CallsByRun = ReadonlyMap<string, readonly CallView[]>;

const NO_RUNS: CallsByRun = new Map();

/** The calls of a thread. Those of a run in which nothing changed since `before` keep their list. */
export function callsByRun(calls: readonly CallView[], before: CallsByRun = NO_RUNS): CallsByRun {
  const groups = new Map<string, CallView[]>();
  for (const call of calls) {
    const group = groups.get(call.runId);
    if (group) group.push(call);
    else groups.set(call.runId, [call]);
  }
  const kept = new Map<string, readonly CallView[]>();
  for (const [runId, group] of groups) {
    const known = before.get(runId);
    kept.set(runId, known && shallowEqual(known, group) ? known : group);
  }
  return kept;
}

/** The tool call that a call is the work of: of the tool itself, or of the subagent behind it. */
export function toolCallIdOf({ kind, callId, toolCallId }: CallView): string | undefined {
  if (kind === "tool") return callId;
  return kind === "subgraph" ? toolCallId : undefined;
}

/** The runs whose calls changed, and the tool calls that were made in those. */
export function changedRuns(before: CallsByRun, now: CallsByRun): readonly string[] {
  if (before === now) return [];
  const lists = [...new Set([...before.keys(), ...now.keys()])]
    .filter((runId) => before.get(runId) !== now.get(runId))
    .flatMap((runId) => [before.get(runId) ?? [], now.get(runId) ?? []]);
  return lists.flatMap((calls) => calls.flatMap((call) => [call.runId, toolCallIdOf(call) ?? call.runId]));
}
