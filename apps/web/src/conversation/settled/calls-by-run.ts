import type { CallView } from "@throughline/agent-client";

/** By run, in the order they began: the run and all its work. */
export type CallsByRun = ReadonlyMap<string, readonly CallView[]>;

/** The calls of a thread, with the list that they were read from. */
export interface GroupedCalls {
  readonly calls: readonly CallView[];
  readonly byRun: CallsByRun;
}

const NO_CALLS: GroupedCalls = { calls: [], byRun: new Map() };

/**
 * Calls change at the end of their list, so only the runs that have some behind the first change since `before` are read again.
 * Those of every other run keep their list.
 */
export function callsByRun(calls: readonly CallView[], before: GroupedCalls = NO_CALLS): CallsByRun {
  const at = calls.findIndex((call, place) => call !== before.calls[place]);
  const first = at < 0 ? calls.length : at;
  const changed = new Map<string, CallView[]>();
  for (const list of [before.calls, calls])
    for (let place = first; place < list.length; place += 1) changed.set(list[place]?.runId ?? "", []);
  for (const call of calls) changed.get(call.runId)?.push(call);
  const byRun = new Map<string, readonly CallView[]>();
  for (const { runId } of calls) {
    if (byRun.has(runId)) continue;
    const known = before.byRun.get(runId);
    const now = changed.get(runId);
    if (known && (!now || isSame(known, now))) byRun.set(runId, known);
    else if (now) byRun.set(runId, now);
  }
  return byRun;
}

function isSame(before: readonly CallView[], now: readonly CallView[]): boolean {
  return before.length === now.length && now.every((call, at) => call === before[at]);
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
