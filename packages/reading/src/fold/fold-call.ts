import type { CallStatus, ErrorClass, ErrorCode, Json, PayloadOf, TokenUsage } from "@throughline/ai-core";

/** What tells a call apart in a thread. A call id is unique within its run. */
export interface CallName {
  readonly run_id: string;
  readonly call_id: string;
}

/** Why a call failed. Of a run without the graph's own name and stack. */
export interface CallError {
  readonly message: string;
  readonly class?: ErrorClass;
  /** The node that threw. */
  readonly node: string | null;
  /** Of a run. */
  readonly code?: ErrorCode;
  /** Of the graph's own error, where the service shows those. */
  readonly name?: string;
  readonly stack?: string;
}

export interface AnsweredQuestion {
  readonly interrupt_id: string;
  /** To stand behind the name of who answered: "chose KLM". */
  readonly words: string;
}

/** One piece of work inside a thread: a run, or what happened within one. People open and close these. */
export interface FoldCall extends CallName {
  readonly parent_id: string | null;
  /** A node that turns out to hold a subgraph is one call. */
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
  /** Of a run that answers: what it answered, in words, in the order the questions were asked. */
  readonly answered?: readonly AnsweredQuestion[];
  /** Of a call that threw. */
  readonly error?: CallError;
  /** How many calls below it are no longer kept. */
  readonly earlier?: number;
}

/** The work of a thread. Runs and the work within them are bounded each by itself. */
export interface KnownCalls {
  /** The newest runs, in the order they began, and all that are open. */
  readonly runs: readonly FoldCall[];
  /** How many runs before them are no longer kept; absent for none. */
  readonly earlier_runs?: number;
  /** What happened within them, in the order it began: the newest, and all that is open. */
  readonly calls: readonly FoldCall[];
}

/** Each run with the work that is kept of it behind it. O(calls). */
export function callsByRun({ runs, calls }: KnownCalls): readonly FoldCall[] {
  const works = new Map<string, FoldCall[]>(runs.map(({ run_id }) => [run_id, []]));
  const rootless: FoldCall[] = [];
  for (const call of calls) (works.get(call.run_id) ?? rootless).push(call);
  return [...runs.flatMap((run) => [run, ...(works.get(run.run_id) ?? [])]), ...rootless];
}
