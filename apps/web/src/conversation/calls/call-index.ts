import type { CallView } from "@throughline/agent-client";

/** What the calls of a thread say, ready to be asked. */
export interface CallIndex {
  /** In the order they began. */
  readonly runs: readonly CallView[];
  readonly runById: ReadonlyMap<string, CallView>;
  /** The run that made a tool call. */
  readonly runOfToolCall: ReadonlyMap<string, string>;
  /** What a tool call did: the subagent behind it where there is one, else the tool itself. */
  readonly workOfToolCall: ReadonlyMap<string, CallView>;
  childrenOf(call: CallView): readonly CallView[];
  /** The run and all its work. */
  callsOf(runId: string): readonly CallView[];
}

const NONE: readonly CallView[] = [];
const indexes = new WeakMap<readonly CallView[], CallIndex>();

/** By list, so that the many who ask within one frame share one pass. */
export function callIndex(calls: readonly CallView[]): CallIndex {
  const known = indexes.get(calls);
  if (known) return known;
  const made = makeIndex(calls);
  indexes.set(calls, made);
  return made;
}

function makeIndex(calls: readonly CallView[]): CallIndex {
  const runs: CallView[] = [];
  const runById = new Map<string, CallView>();
  const runOfToolCall = new Map<string, string>();
  const workOfToolCall = new Map<string, CallView>();
  const children = new Map<string, CallView[]>();
  const byRun = new Map<string, CallView[]>();
  for (const call of calls) {
    gather(byRun, call.runId, call);
    if (call.kind === "run") {
      runs.push(call);
      runById.set(call.runId, call);
      continue;
    }
    if (call.parentId !== null) gather(children, keyOf(call.runId, call.parentId), call);
    if (call.kind === "tool") {
      runOfToolCall.set(call.callId, call.runId);
      if (!workOfToolCall.has(call.callId)) workOfToolCall.set(call.callId, call);
    } else if (call.kind === "subgraph" && call.toolCallId !== undefined) {
      runOfToolCall.set(call.toolCallId, call.runId);
      workOfToolCall.set(call.toolCallId, call);
    }
  }
  return {
    runs,
    runById,
    runOfToolCall,
    workOfToolCall,
    childrenOf: (call) => children.get(keyOf(call.runId, call.callId)) ?? NONE,
    callsOf: (runId) => byRun.get(runId) ?? NONE,
  };
}

function gather(groups: Map<string, CallView[]>, key: string, call: CallView): void {
  const group = groups.get(key);
  if (group) group.push(call);
  else groups.set(key, [call]);
}

function keyOf(runId: string, callId: string): string {
  return `${runId} ${callId}`;
}

/** A step of the graph's own plumbing: over in a moment, with nothing to show. */
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

/** What is being done right now, outermost first. Of work that goes on side by side, what began last. */
export function activePath(run: CallView, index: CallIndex): readonly CallView[] {
  const next = index.childrenOf(run).findLast((call) => call.status === "running");
  return next ? [next, ...activePath(next, index)] : [];
}

/** The innermost work that failed and made the run fail. */
export function failedStep(run: CallView, index: CallIndex): CallView | undefined {
  if (run.status !== "error") return undefined;
  const next = index.childrenOf(run).findLast((call) => call.status === "error");
  return next && (failedStep(next, index) ?? next);
}

/** How many pieces of work of each kind lie below a call. */
export function countWork(call: CallView, index: CallIndex): Readonly<Record<CallView["kind"], number>> {
  const counts = { run: 0, node: 0, subgraph: 0, model: 0, tool: 0 };
  const pending = [...index.childrenOf(call)];
  for (let one = pending.pop(); one; one = pending.pop()) {
    counts[one.kind] += 1;
    pending.push(...index.childrenOf(one));
  }
  return counts;
}
