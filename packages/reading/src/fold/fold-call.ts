import type { CallStatus, ErrorClass, ErrorCode, Json, PayloadOf, TokenUsage } from "@throughline/ai-core";

/** Identifies a call in a thread. A call id is unique within its run. */
export interface CallName {
  readonly run_id: string;
  readonly call_id: string;
}

/** The error of a failed call. A run's has neither the graph's own name nor its stack. */
export interface CallError {
  readonly message: string;
  readonly class?: ErrorClass;
  /** The node that threw. */
  readonly node: string | null;
  /** Present on a run. */
  readonly code?: ErrorCode;
  /** The name of the graph's own error, where the service shows those. */
  readonly name?: string;
  readonly stack?: string;
}

export interface ResolvedInterrupt {
  readonly interrupt_id: string;
  /** A text to show after the name of the person who responded: "chose KLM". */
  readonly words: string;
}

/** One piece of work inside a thread: a run, or a call within one. People expand and collapse these. */
export interface ProjectedCall extends CallName {
  readonly parent_id: string | null;
  /** A node that turns out to hold a subgraph is one call. */
  readonly kind: "run" | "node" | "subgraph" | "model" | "tool";
  readonly name: string;
  readonly attempt: number;
  /** Seconds since the Unix epoch. */
  readonly started_at: number;
  readonly ended_at: number | null;
  /** `lost`: its process died, and the work was restarted. */
  readonly status: "running" | CallStatus | "lost";
  /** The message that a model call wrote. */
  readonly message_id?: string;
  /** The tool call that runs this subgraph. */
  readonly tool_call_id?: string;
  /** Long values are truncated, and then are text. */
  readonly args?: Json;
  readonly result?: Json;
  /** The latest progress that a tool reported. */
  readonly progress?: Json;
  readonly usage?: TokenUsage;
  /** Present on a run. */
  readonly started_by?: PayloadOf<"run_start">["started_by"];
  /** The interrupts that a run responds to, each with its response as text, in the order of the interrupts. */
  readonly answered?: readonly ResolvedInterrupt[];
  /** Present on a call that threw. */
  readonly error?: CallError;
  /** The number of evicted calls below this one. */
  readonly earlier?: number;
}

/** The work of a thread. Runs and the calls within them have separate bounds. */
export interface CallTree {
  /** The newest runs, in the order they began, and all open ones. */
  readonly runs: readonly ProjectedCall[];
  /** The number of evicted runs before them; absent for none. */
  readonly earlier_runs?: number;
  /** The newest calls within the runs, in the order they began, and all open ones. */
  readonly calls: readonly ProjectedCall[];
}

/** Lists each run, followed by its retained calls. O(calls). */
export function callsByRun({ runs, calls }: CallTree): readonly ProjectedCall[] {
  const works = new Map<string, ProjectedCall[]>(runs.map(({ run_id }) => [run_id, []]));
  const rootless: ProjectedCall[] = [];
  for (const call of calls) (works.get(call.run_id) ?? rootless).push(call);
  return [...runs.flatMap((run) => [run, ...(works.get(run.run_id) ?? [])]), ...rootless];
}
