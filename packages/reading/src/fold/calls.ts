import type {
  CallStatus,
  Envelope,
  EnvelopeOf,
  Interrupt,
  Json,
  Message,
  PayloadOf,
} from "@throughline/ai-core";
import { describeResponse, type Question, readInterruptRequest } from "@throughline/questions";
import type { CallError, CallName, CallTree, ProjectedCall, ResolvedInterrupt } from "./fold-call.js";
import { evictClosedCalls } from "./let-go.js";

/** The most calls within runs. Beyond it closed calls are evicted, in batches that keep the search for them cheap. */
const MAX_CALLS = 200;
const EVICTION_BATCH = 50;
/** A cron of every minute makes 1,440 runs a day, and each snapshot and each prelude holds all that are retained. */
const MAX_RUNS = 100;
const MAX_PREVIEW = 2_000;

/** The open interrupts and the messages before a run begins, from which its interrupt responses are described. */
export interface InterruptContext {
  readonly interrupts: readonly Interrupt[];
  readonly messages: readonly Message[];
}

export interface CallTreeChange extends CallTree {
  /** The runs and calls that are new or different. */
  readonly changed: readonly ProjectedCall[];
  /** The evicted calls, each with all calls below it. */
  readonly gone: readonly CallName[];
}

/**
 * Applies an envelope to the call tree; `undefined` when nothing changes, as with every token. Costs O(MAX_CALLS + open
 * calls), however long the thread is. At most MAX_CALLS calls within runs are retained, or the open ones and EVICTION_BATCH more.
 */
export function updateCallTree(
  tree: CallTree & Partial<InterruptContext>,
  envelope: Envelope,
): CallTreeChange | undefined {
  switch (envelope.type) {
    case "run_start":
      return startRun(tree, envelope, tree);
    case "run_end": {
      const { status, error } = envelope.payload;
      return endAll(tree, envelope, status === "success" ? "ok" : status, error && runError(error));
    }
    case "step_start":
      return start(tree, envelope, { kind: "node", name: envelope.payload.node });
    case "llm_start":
      if (envelope.payload.synthetic) return undefined;
      return start(tree, envelope, {
        kind: "model",
        name: envelope.payload.model ?? "model",
        message_id: envelope.payload.message_id,
      });
    case "tool_start":
      return startTool(tree, envelope);
    case "tool_update":
      return update(tree, envelope, { progress: preview(envelope.payload.data) });
    case "step_end":
      return end(tree, envelope, envelope.payload.status);
    case "llm_end": {
      const { usage, status, model } = envelope.payload;
      return end(tree, envelope, status, {
        ...(usage && { usage }),
        ...(model !== null && { name: model }),
      });
    }
    case "tool_end":
      return end(tree, envelope, envelope.payload.status, { result: preview(envelope.payload.result) });
    case "error": {
      const { message, class: kind, node, name, stack } = envelope.payload;
      const own = stack === undefined ? {} : { name, stack };
      return update(tree, envelope, { error: { message, class: kind, node, ...own } });
    }
    case "llm_token":
    case "subgraph_checkpoint":
    case "subgraph_resume":
    case "state_snapshot":
    case "state_delta":
    case "interrupt":
    case "usage":
    case "retract":
    case "custom":
    case "warning":
      return undefined;
  }
}

type RunError = NonNullable<PayloadOf<"run_end">["error"]>;
type About = Pick<ProjectedCall, "kind" | "name"> & Partial<ProjectedCall>;

function begun({ run_id, call_id, parent_id, attempt, ts }: Envelope, about: About): ProjectedCall {
  return { run_id, call_id, parent_id, attempt, started_at: ts, ended_at: null, status: "running", ...about };
}

function start(tree: CallTree, envelope: Envelope, about: About): CallTreeChange {
  const before = tree.calls[indexOf(tree.calls, envelope)];
  return put(tree, keepEvictedCount(begun(envelope, about), before));
}

/** Copies the count of evicted calls from a call's earlier attempt when it restarts. */
function keepEvictedCount(call: ProjectedCall, before: ProjectedCall | undefined): ProjectedCall {
  return before?.earlier === undefined ? call : { ...call, earlier: before.earlier };
}

/** Starts a run. A run that is recovered after a crash continues, and its open calls are lost. */
function startRun(
  tree: CallTree,
  envelope: EnvelopeOf<"run_start">,
  context: Partial<InterruptContext>,
): CallTreeChange {
  const { graph_id, started_by } = envelope.payload;
  const before = tree.runs[indexOf(tree.runs, envelope)];
  const lost = closed(tree.calls, envelope, "lost");
  // The interrupts are open until the run that responds to them begins: after a recovery they are no longer known.
  const answered = before ? before.answered : resolvedBy(envelope.payload, context);
  const about: About = { kind: "run", name: graph_id, started_by, ...(answered && { answered }) };
  const run = keepEvictedCount(begun(envelope, about), before);
  const started = put(
    { ...tree, calls: lost.calls },
    before ? { ...run, started_at: before.started_at } : run,
  );
  return { ...started, changed: [...lost.changed, ...started.changed] };
}

/** Describes the responses that a run brings; without the interrupt's own text where the log no longer holds the interrupt. */
function resolvedBy(
  { given = {} }: PayloadOf<"run_start">,
  { interrupts = [], messages = [] }: Partial<InterruptContext>,
): readonly ResolvedInterrupt[] | undefined {
  const ids = Object.keys(given);
  if (ids.length === 0) return undefined;
  const order = new Map(interrupts.map(({ interrupt_id }, at) => [interrupt_id, at]));
  const positionOf = (id: string) => order.get(id) ?? interrupts.length;
  return ids
    .toSorted((a, b) => positionOf(a) - positionOf(b))
    .map((interrupt_id) => {
      const { value = null, response_schema } = interrupts[positionOf(interrupt_id)] ?? {};
      const interrupt = withActionName(readInterruptRequest(value, response_schema), messages);
      return { interrupt_id, words: describeResponse(interrupt, given[interrupt_id] ?? null) };
    });
}

/** Adds the tool's name to an approval: AG-UI's interrupts may carry a call's id alone, and the conversation has its name. */
function withActionName(interrupt: Question, messages: InterruptContext["messages"]): Question {
  if (interrupt.kind !== "approval" || interrupt.action.name !== "") return interrupt;
  const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls);
  const { name = "" } = calls.find(({ id }) => id === interrupt.toolCallId) ?? {};
  return { ...interrupt, action: { ...interrupt.action, name } };
}

function startTool(tree: CallTree, envelope: EnvelopeOf<"tool_start">): CallTreeChange {
  const { kind, tool_name, args, input, tool_call_id } = envelope.payload;
  const given = args ?? input;
  const about: About = {
    kind,
    name: tool_name,
    ...(given !== undefined && { args: preview(given) }),
    ...(tool_call_id !== undefined && { tool_call_id }),
  };
  const node = kind === "subgraph" ? tree.calls[indexOf(tree.calls, envelope)] : undefined;
  return put(tree, node ? { ...node, ...about } : begun(envelope, about));
}

function update(
  tree: CallTree,
  envelope: Envelope,
  change: Partial<ProjectedCall>,
): CallTreeChange | undefined {
  const call = tree.calls[indexOf(tree.calls, envelope)];
  return call && put(tree, { ...call, ...change });
}

function end(
  tree: CallTree,
  envelope: Envelope,
  status: CallStatus,
  change: Partial<ProjectedCall> = {},
): CallTreeChange | undefined {
  return update(tree, envelope, { ...change, status, ended_at: envelope.ts });
}

function runError({ code, message, class: kind, node = null }: RunError): CallError {
  return { code, message, ...(kind && { class: kind }), node };
}

function endAll(
  tree: CallTree,
  envelope: Envelope,
  status: CallStatus,
  error: CallError | undefined,
): CallTreeChange {
  const calls = closed(tree.calls, envelope, status);
  const runs = closed(tree.runs, envelope, status, error && { error });
  return {
    ...withEarlier(tree.earlier_runs ?? 0),
    calls: calls.calls,
    runs: runs.calls,
    changed: [...calls.changed, ...runs.changed],
    gone: [],
  };
}

/** Ends the open calls of a run. O(calls), once a run. */
function closed(
  calls: readonly ProjectedCall[],
  { run_id, ts }: Envelope,
  status: ProjectedCall["status"],
  more: Partial<ProjectedCall> = {},
): { readonly calls: readonly ProjectedCall[]; readonly changed: readonly ProjectedCall[] } {
  const changed: ProjectedCall[] = [];
  const next = calls.map((call) => {
    if (call.run_id !== run_id || call.status !== "running") return call;
    const ended = { ...call, status, ended_at: ts, ...more };
    changed.push(ended);
    return ended;
  });
  return { calls: next, changed };
}

/** Searches from the end, because calls that change began recently. */
function indexOf(calls: readonly ProjectedCall[], { run_id, call_id }: CallName): number {
  return calls.findLastIndex((call) => call.call_id === call_id && call.run_id === run_id);
}

function put(tree: CallTree, call: ProjectedCall): CallTreeChange {
  if (call.kind === "run") return putRun(tree, call);
  const { runs, earlier_runs = 0 } = tree;
  const calls = withCall(tree.calls, call);
  const beyond = calls.length - MAX_CALLS;
  // Open calls can't be evicted: where all are open, the next attempt waits until there are EVICTION_BATCH more.
  if (beyond <= 0 || beyond % EVICTION_BATCH !== 1 || calls.length === tree.calls.length)
    return { ...withEarlier(earlier_runs), runs, calls, changed: [call], gone: [] };
  const { counted, gone, ...retained } = evictClosedCalls({ runs, calls }, beyond + EVICTION_BATCH - 1);
  // The call that begins now is open, so it is retained, and it has no calls below it yet that could be counted.
  return { ...withEarlier(earlier_runs), ...retained, changed: [call, ...counted], gone };
}

/** Evicts the oldest closed runs beyond MAX_RUNS, with their retained calls. O(runs + calls), once a run. */
function putRun(tree: CallTree, run: ProjectedCall): CallTreeChange {
  const runs = withCall(tree.runs, run);
  const closed = runs.filter(({ status }) => status !== "running");
  const evicted = new Set(closed.slice(0, Math.max(0, runs.length - MAX_RUNS)).map(({ run_id }) => run_id));
  const isEvicted = ({ run_id }: ProjectedCall) => evicted.has(run_id);
  const gone = evicted.size === 0 ? [] : [...runs, ...tree.calls].filter(isEvicted);
  return {
    ...withEarlier((tree.earlier_runs ?? 0) + evicted.size),
    runs: gone.length === 0 ? runs : runs.filter((other) => !isEvicted(other)),
    calls: gone.length === 0 ? tree.calls : tree.calls.filter((call) => !isEvicted(call)),
    changed: [run],
    gone: gone.map(({ run_id, call_id }) => ({ run_id, call_id })),
  };
}

function withEarlier(count: number): Pick<CallTree, "earlier_runs"> {
  return count === 0 ? {} : { earlier_runs: count };
}

function withCall(calls: readonly ProjectedCall[], call: ProjectedCall): readonly ProjectedCall[] {
  const next = calls.slice();
  const at = indexOf(calls, call);
  next[at < 0 ? next.length : at] = call;
  return next;
}

function preview(value: Json): Json {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length <= MAX_PREVIEW ? value : `${text.slice(0, MAX_PREVIEW)}…`;
}
