import type {
  CallStatus,
  Envelope,
  EnvelopeOf,
  Interrupt,
  Json,
  Message,
  PayloadOf,
} from "@throughline/ai-core";
import { answerWords, type Question, readQuestion } from "@throughline/questions";
import type { AnsweredQuestion, CallError, CallName, FoldCall, KnownCalls } from "./fold-call.js";
import { letGo } from "./let-go.js";

/** Of the work within runs. Beyond it closed calls are let go, as many at a time as make looking for them cheap. */
const MAX_CALLS = 200;
const LET_GO_AT_ONCE = 50;
/** A schedule of every minute makes 1,440 runs a day, and each snapshot and each prelude holds what is kept of them. */
const MAX_RUNS = 100;
const MAX_PREVIEW = 2_000;

/** What was asked and said before a run begins: a run that answers says what. */
export interface AskedBefore {
  readonly interrupts: readonly Interrupt[];
  readonly messages: readonly Message[];
}

export interface CallsChange extends KnownCalls {
  /** Those of them that are new or different. */
  readonly changed: readonly FoldCall[];
  /** No longer kept: each stands for itself and all below it. */
  readonly gone: readonly CallName[];
}

/**
 * What an envelope does to the calls; `undefined` for nothing, as with every token. Costs O(MAX_CALLS + open calls), however
 * long the thread is. Kept are at most MAX_CALLS calls within runs, or what is open and LET_GO_AT_ONCE more.
 */
export function changeCalls(
  known: KnownCalls & Partial<AskedBefore>,
  envelope: Envelope,
): CallsChange | undefined {
  switch (envelope.type) {
    case "run_start":
      return startRun(known, envelope, known);
    case "run_end": {
      const { status, error } = envelope.payload;
      return endAll(known, envelope, status === "success" ? "ok" : status, error && runError(error));
    }
    case "step_start":
      return start(known, envelope, { kind: "node", name: envelope.payload.node });
    case "llm_start":
      if (envelope.payload.synthetic) return undefined;
      return start(known, envelope, {
        kind: "model",
        name: envelope.payload.model ?? "model",
        message_id: envelope.payload.message_id,
      });
    case "tool_start":
      return startTool(known, envelope);
    case "tool_update":
      return update(known, envelope, { progress: preview(envelope.payload.data) });
    case "step_end":
      return end(known, envelope, envelope.payload.status);
    case "llm_end": {
      const { usage, status, model } = envelope.payload;
      return end(known, envelope, status, {
        ...(usage && { usage }),
        ...(model !== null && { name: model }),
      });
    }
    case "tool_end":
      return end(known, envelope, envelope.payload.status, { result: preview(envelope.payload.result) });
    case "error": {
      const { message, class: kind, node, name, stack } = envelope.payload;
      const own = stack === undefined ? {} : { name, stack };
      return update(known, envelope, { error: { message, class: kind, node, ...own } });
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
type About = Pick<FoldCall, "kind" | "name"> & Partial<FoldCall>;

function begun({ run_id, call_id, parent_id, attempt, ts }: Envelope, about: About): FoldCall {
  return { run_id, call_id, parent_id, attempt, started_at: ts, ended_at: null, status: "running", ...about };
}

function start(known: KnownCalls, envelope: Envelope, about: About): CallsChange {
  const before = known.calls[indexOf(known.calls, envelope)];
  return put(known, again(begun(envelope, about), before));
}

/** What was let go below a call stays counted when it begins anew. */
function again(call: FoldCall, before: FoldCall | undefined): FoldCall {
  return before?.earlier === undefined ? call : { ...call, earlier: before.earlier };
}

/** Recovered after a crash, a run's open calls are lost and the same run goes on. */
function startRun(
  known: KnownCalls,
  envelope: EnvelopeOf<"run_start">,
  asked: Partial<AskedBefore>,
): CallsChange {
  const { graph_id, started_by } = envelope.payload;
  const before = known.runs[indexOf(known.runs, envelope)];
  const lost = closed(known.calls, envelope, "lost");
  // The questions are open until their answer begins its run: recovered, it no longer knows them.
  const answered = before ? before.answered : answeredBy(envelope.payload, asked);
  const about: About = { kind: "run", name: graph_id, started_by, ...(answered && { answered }) };
  const run = again(begun(envelope, about), before);
  const started = put(
    { ...known, calls: lost.calls },
    before ? { ...run, started_at: before.started_at } : run,
  );
  return { ...started, changed: [...lost.changed, ...started.changed] };
}

/** A question that the log no longer holds is answered without its own words. */
function answeredBy(
  { given = {} }: PayloadOf<"run_start">,
  { interrupts: asked = [], messages = [] }: Partial<AskedBefore>,
): readonly AnsweredQuestion[] | undefined {
  const ids = Object.keys(given);
  if (ids.length === 0) return undefined;
  const order = new Map(asked.map(({ interrupt_id }, at) => [interrupt_id, at]));
  const placeOf = (id: string) => order.get(id) ?? asked.length;
  return ids
    .toSorted((a, b) => placeOf(a) - placeOf(b))
    .map((interrupt_id) => {
      const { value = null, response_schema } = asked[placeOf(interrupt_id)] ?? {};
      const question = named(readQuestion(value, response_schema), messages);
      return { interrupt_id, words: answerWords(question, given[interrupt_id] ?? null) };
    });
}

/** AG-UI's questions about a call may tell its id alone: its name is in the conversation. */
function named(question: Question, messages: AskedBefore["messages"]): Question {
  if (question.kind !== "approval" || question.action.name !== "") return question;
  const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls);
  const { name = "" } = calls.find(({ id }) => id === question.toolCallId) ?? {};
  return { ...question, action: { ...question.action, name } };
}

function startTool(known: KnownCalls, envelope: EnvelopeOf<"tool_start">): CallsChange {
  const { kind, tool_name, args, input, tool_call_id } = envelope.payload;
  const given = args ?? input;
  const about: About = {
    kind,
    name: tool_name,
    ...(given !== undefined && { args: preview(given) }),
    ...(tool_call_id !== undefined && { tool_call_id }),
  };
  const node = kind === "subgraph" ? known.calls[indexOf(known.calls, envelope)] : undefined;
  return put(known, node ? { ...node, ...about } : begun(envelope, about));
}

function update(known: KnownCalls, envelope: Envelope, change: Partial<FoldCall>): CallsChange | undefined {
  const call = known.calls[indexOf(known.calls, envelope)];
  return call && put(known, { ...call, ...change });
}

function end(
  known: KnownCalls,
  envelope: Envelope,
  status: CallStatus,
  change: Partial<FoldCall> = {},
): CallsChange | undefined {
  return update(known, envelope, { ...change, status, ended_at: envelope.ts });
}

function runError({ code, message, class: kind, node = null }: RunError): CallError {
  return { code, message, ...(kind && { class: kind }), node };
}

function endAll(
  known: KnownCalls,
  envelope: Envelope,
  status: CallStatus,
  error: CallError | undefined,
): CallsChange {
  const calls = closed(known.calls, envelope, status);
  const runs = closed(known.runs, envelope, status, error && { error });
  return {
    ...withEarlier(known.earlier_runs ?? 0),
    calls: calls.calls,
    runs: runs.calls,
    changed: [...calls.changed, ...runs.changed],
    gone: [],
  };
}

/** What is open of a run, ended. O(calls), once a run. */
function closed(
  calls: readonly FoldCall[],
  { run_id, ts }: Envelope,
  status: FoldCall["status"],
  more: Partial<FoldCall> = {},
): { readonly calls: readonly FoldCall[]; readonly changed: readonly FoldCall[] } {
  const changed: FoldCall[] = [];
  const next = calls.map((call) => {
    if (call.run_id !== run_id || call.status !== "running") return call;
    const ended = { ...call, status, ended_at: ts, ...more };
    changed.push(ended);
    return ended;
  });
  return { calls: next, changed };
}

/** From the end: what changes began not long ago. */
function indexOf(calls: readonly FoldCall[], { run_id, call_id }: CallName): number {
  return calls.findLastIndex((call) => call.call_id === call_id && call.run_id === run_id);
}

function put(known: KnownCalls, call: FoldCall): CallsChange {
  if (call.kind === "run") return putRun(known, call);
  const { runs, earlier_runs = 0 } = known;
  const calls = placed(known.calls, call);
  const beyond = calls.length - MAX_CALLS;
  // Where all that is there is open, nothing can go: then it is asked again only when there are many more.
  if (beyond <= 0 || beyond % LET_GO_AT_ONCE !== 1 || calls.length === known.calls.length)
    return { ...withEarlier(earlier_runs), runs, calls, changed: [call], gone: [] };
  const { counted, gone, ...kept } = letGo({ runs, calls }, beyond + LET_GO_AT_ONCE - 1);
  // What begins now is open, so it stays, and nothing is below it yet that could be counted.
  return { ...withEarlier(earlier_runs), ...kept, changed: [call, ...counted], gone };
}

/** Evicts the oldest closed runs beyond MAX_RUNS, with the work that is kept of them. O(runs + calls), once a run. */
function putRun(known: KnownCalls, run: FoldCall): CallsChange {
  const runs = placed(known.runs, run);
  const closed = runs.filter(({ status }) => status !== "running");
  const evicted = new Set(closed.slice(0, Math.max(0, runs.length - MAX_RUNS)).map(({ run_id }) => run_id));
  const isEvicted = ({ run_id }: FoldCall) => evicted.has(run_id);
  const gone = evicted.size === 0 ? [] : [...runs, ...known.calls].filter(isEvicted);
  return {
    ...withEarlier((known.earlier_runs ?? 0) + evicted.size),
    runs: gone.length === 0 ? runs : runs.filter((kept) => !isEvicted(kept)),
    calls: gone.length === 0 ? known.calls : known.calls.filter((kept) => !isEvicted(kept)),
    changed: [run],
    gone: gone.map(({ run_id, call_id }) => ({ run_id, call_id })),
  };
}

function withEarlier(count: number): Pick<KnownCalls, "earlier_runs"> {
  return count === 0 ? {} : { earlier_runs: count };
}

function placed(calls: readonly FoldCall[], call: FoldCall): readonly FoldCall[] {
  const next = calls.slice();
  const at = indexOf(calls, call);
  next[at < 0 ? next.length : at] = call;
  return next;
}

function preview(value: Json): Json {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length <= MAX_PREVIEW ? value : `${text.slice(0, MAX_PREVIEW)}…`;
}
