import type { Envelope, GraphCheckpoint, LogEntry, Message } from "@throughline/ai-core";
import type { FoldCall } from "@throughline/reading";
import { applyEntry, emptyFold, type FoldRun, type ThreadFold } from "@throughline/reading";
import { type StateKeys, visibleState } from "../translate/state-tracker.js";

export interface FoldSource {
  /** `undefined` when the thread has none. */
  readonly checkpoint:
    | Pick<GraphCheckpoint, "checkpointId" | "interrupts" | "messages" | "state">
    | undefined;
  /** Keys of the graph's output schema. */
  readonly stateKeys: StateKeys | undefined;
  /** The thread's last run, or the open one. */
  readonly run: FoldRun | null;
  /** What the open run is as a call: without it nothing says who started it, or that it can be stopped. */
  readonly call?: Pick<FoldCall, "name" | "started_at" | "started_by">;
  /** Questions that the open run answers. */
  readonly answered?: readonly string[];
  /** What people said to the open run. */
  readonly said?: readonly Message[];
  /** What the log still has of the open run. The checkpoint was read before they were. */
  readonly entries?: readonly LogEntry[];
}

/**
 * R20: a thread as its checkpoint has it, and, of an open run, what the log still tells. Exact for an idle thread. Of an open
 * run it may lack the beginning of a message that streams, and the nodes and subagents that began before the log does.
 */
export function rebuildFold(source: FoldSource): ThreadFold {
  const { checkpoint, stateKeys, run, call, answered = [], said = [], entries = [] } = source;
  const committed = new Set(checkpoint?.messages?.map(({ id }) => id));
  const [first] = entries;
  // A run whose beginning is there begins by itself.
  const begun = first?.envelope.type === "run_start" ? null : run;
  // A run of which nothing is left may not have begun: then what was said to it is still to be told.
  const missed = begun?.open && first ? said.filter(({ id }) => !committed.has(id)) : [];
  const base: ThreadFold = {
    ...emptyFold,
    run: begun,
    runs: begun?.open && call ? [openRun(begun, call)] : [],
    ...(checkpoint && {
      state: visibleState(checkpoint.state, stateKeys),
      interrupts: checkpoint.interrupts.filter(({ interrupt_id }) => !answered.includes(interrupt_id)),
      checkpoint_id: checkpoint.checkpointId,
    }),
    messages: [...(checkpoint?.messages ?? []), ...missed],
  };
  return entries.filter(({ envelope }) => !isCommitted(envelope, committed)).reduce(applyEntry, base);
}

function openRun({ run_id, attempt }: FoldRun, call: NonNullable<FoldSource["call"]>): FoldCall {
  const call_id = run_id;
  return {
    run_id,
    call_id,
    parent_id: null,
    kind: "run",
    attempt,
    ended_at: null,
    status: "running",
    ...call,
  };
}

/** What the checkpoint has already: applied to it, text would stand there twice. */
function isCommitted(envelope: Envelope, messages: ReadonlySet<string>): boolean {
  switch (envelope.type) {
    case "llm_start":
    case "llm_token":
    case "llm_end":
      return messages.has(envelope.payload.message_id);
    case "state_delta":
    case "state_snapshot":
      return true;
    default:
      return false;
  }
}
