import type { CallStatus, Envelope, EnvelopeOf, Json, PayloadOf, TokenUsage } from "@throughline/ai-core";

/** One piece of work inside a thread: a run, or what happened within one. People open and close these. */
export interface FoldCall {
  readonly run_id: string;
  /** Unique within the run. A node that turns out to hold a subgraph is one call. */
  readonly call_id: string;
  readonly parent_id: string | null;
  readonly kind: "run" | "node" | "subgraph" | "model" | "tool";
  readonly name: string;
  readonly attempt: number;
  /** Seconds since the Unix epoch. */
  readonly started_at: number;
  readonly ended_at: number | null;
  /** `lost`: its process died, and the work was begun again. */
  readonly status: "running" | CallStatus | "lost";
  /** Of a model call: the message it wrote. */
  readonly message_id?: string;
  /** Of a subgraph that a tool runs: that tool's call. */
  readonly tool_call_id?: string;
  /** Long values are cut, and then are text. */
  readonly args?: Json;
  readonly result?: Json;
  /** What a tool said last of its progress. */
  readonly progress?: Json;
  readonly usage?: TokenUsage;
  /** Of a run. */
  readonly started_by?: PayloadOf<"run_start">["started_by"];
}

/** Older ones are forgotten: the log has them, a fold is what a page shows when it opens. */
const MAX_CALLS = 200;
const MAX_PREVIEW = 2_000;

export interface CallsChange {
  readonly calls: readonly FoldCall[];
  /** Those of them that are new or different. */
  readonly changed: readonly FoldCall[];
}

/** What an envelope does to the calls; `undefined` for nothing, as with every token. Costs O(calls kept). */
export function changeCalls(calls: readonly FoldCall[], envelope: Envelope): CallsChange | undefined {
  switch (envelope.type) {
    case "run_start":
      return startRun(calls, envelope);
    case "run_end": {
      const { status } = envelope.payload;
      return endAll(calls, envelope, status === "success" ? "ok" : status);
    }
    case "step_start":
      return start(calls, envelope, { kind: "node", name: envelope.payload.node });
    case "llm_start":
      if (envelope.payload.synthetic) return undefined;
      return start(calls, envelope, {
        kind: "model",
        name: envelope.payload.model ?? "model",
        message_id: envelope.payload.message_id,
      });
    case "tool_start":
      return startTool(calls, envelope);
    case "tool_update":
      return update(calls, envelope, { progress: preview(envelope.payload.data) });
    case "step_end":
      return end(calls, envelope, envelope.payload.status);
    case "llm_end": {
      const { usage, status, model } = envelope.payload;
      return end(calls, envelope, status, {
        ...(usage && { usage }),
        ...(model !== null && { name: model }),
      });
    }
    case "tool_end":
      return end(calls, envelope, envelope.payload.status, { result: preview(envelope.payload.result) });
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
    case "error":
      return undefined;
  }
}

type About = Pick<FoldCall, "kind" | "name"> & Partial<FoldCall>;

function begun({ run_id, call_id, parent_id, attempt, ts }: Envelope, about: About): FoldCall {
  return { run_id, call_id, parent_id, attempt, started_at: ts, ended_at: null, status: "running", ...about };
}

function start(calls: readonly FoldCall[], envelope: Envelope, about: About): CallsChange {
  return put(calls, [begun(envelope, about)]);
}

/** Taken up again after a crash, a run's open calls are lost and the same run goes on. */
function startRun(calls: readonly FoldCall[], envelope: EnvelopeOf<"run_start">): CallsChange {
  const { graph_id, started_by } = envelope.payload;
  const before = findCall(calls, envelope);
  const lost = openOf(calls, envelope.run_id)
    .filter((call) => call !== before)
    .map((call): FoldCall => ({ ...call, status: "lost", ended_at: envelope.ts }));
  const run = begun(envelope, { kind: "run", name: graph_id, started_by });
  return put(calls, [...lost, before ? { ...run, started_at: before.started_at } : run]);
}

function startTool(calls: readonly FoldCall[], envelope: EnvelopeOf<"tool_start">): CallsChange {
  const { kind, tool_name, args, tool_call_id } = envelope.payload;
  const about: About = {
    kind,
    name: tool_name,
    ...(args !== undefined && { args: preview(args) }),
    ...(tool_call_id !== undefined && { tool_call_id }),
  };
  const node = kind === "subgraph" ? findCall(calls, envelope) : undefined;
  return put(calls, [node ? { ...node, ...about } : begun(envelope, about)]);
}

function update(
  calls: readonly FoldCall[],
  envelope: Envelope,
  change: Partial<FoldCall>,
): CallsChange | undefined {
  const call = findCall(calls, envelope);
  return call && put(calls, [{ ...call, ...change }]);
}

function end(
  calls: readonly FoldCall[],
  envelope: Envelope,
  status: CallStatus,
  change: Partial<FoldCall> = {},
): CallsChange | undefined {
  return update(calls, envelope, { ...change, status, ended_at: envelope.ts });
}

function endAll(calls: readonly FoldCall[], envelope: Envelope, status: CallStatus): CallsChange {
  return put(
    calls,
    openOf(calls, envelope.run_id).map((call) => ({ ...call, status, ended_at: envelope.ts })),
  );
}

function openOf(calls: readonly FoldCall[], runId: string): readonly FoldCall[] {
  return calls.filter((call) => call.run_id === runId && call.status === "running");
}

function findCall(
  calls: readonly FoldCall[],
  { run_id, call_id }: Pick<FoldCall, "run_id" | "call_id">,
): FoldCall | undefined {
  return calls.findLast((call) => call.call_id === call_id && call.run_id === run_id);
}

function put(calls: readonly FoldCall[], changed: readonly FoldCall[]): CallsChange {
  const next = calls.slice();
  for (const call of changed) {
    const at = next.findLastIndex((other) => other.call_id === call.call_id && other.run_id === call.run_id);
    if (at < 0) next.push(call);
    else next[at] = call;
  }
  return { calls: next.length > MAX_CALLS ? next.slice(-MAX_CALLS) : next, changed };
}

function preview(value: Json): Json {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length <= MAX_PREVIEW ? value : `${text.slice(0, MAX_PREVIEW)}…`;
}
