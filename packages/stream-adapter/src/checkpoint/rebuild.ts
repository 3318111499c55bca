import type {
  Envelope,
  GraphCheckpoint,
  GraphFinal,
  LogEntry,
  Message,
  PayloadOf,
} from "@throughline/ai-core";
import {
  applyEntry,
  currentMessages,
  emptyThreadProjection,
  isConversation,
  type ProjectedCall,
  type ProjectedRun,
  type ThreadProjection,
} from "@throughline/reading";
import { diffState } from "../delta/state-delta.js";
import { type StateKeys, visibleState } from "../translate/state.js";

export interface RebuildSource {
  /** `undefined` when the thread has none. */
  readonly checkpoint:
    | Pick<GraphCheckpoint, "checkpointId" | "interrupts" | "messages" | "state">
    | undefined;
  /** Keys of the graph's output schema. */
  readonly stateKeys: StateKeys | undefined;
  /** The thread's last run, or the open one. */
  readonly run: ProjectedRun | null;
  /** The open run as a call: without it the projection has neither its starter nor the option to stop it. */
  readonly call?: Pick<ProjectedCall, "name" | "started_at" | "started_by">;
  /** Ids of the interrupts that the open run responds to. */
  readonly answered?: readonly string[];
  /** The input messages of the open run. */
  readonly said?: readonly Message[];
  /** The entries of the open run that the log still has. The checkpoint was read before them. */
  readonly entries?: readonly LogEntry[];
}

/**
 * R20: rebuilds a projection from the checkpoint and, for an open run, the remaining entries of the log. Exact for an idle
 * thread. With an open run it may lack the beginning of a streaming message, and nodes and subagents that began before the log.
 */
export function rebuildProjection(source: RebuildSource): ThreadProjection {
  const { checkpoint, stateKeys, run, call, answered = [], said: inputMessages = [], entries = [] } = source;
  const committed = new Set(checkpoint?.messages?.map(({ id }) => id));
  const [first] = entries;
  // The first entry starts the run, where the log has it.
  const begun = first?.envelope.type === "run_start" ? null : run;
  // A run without entries may not have begun: its entries will bring its input messages.
  const missed = begun?.open && first ? inputMessages.filter(({ id }) => !committed.has(id)) : [];
  const base: ThreadProjection = {
    ...emptyThreadProjection,
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

function openRun({ run_id, attempt }: ProjectedRun, call: NonNullable<RebuildSource["call"]>): ProjectedCall {
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

/** Whether the checkpoint includes an entry already: applied to it, text would be duplicated. */
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

/** The differences between a finished run's log and its checkpoint. */
export interface Reconciliation {
  /** Ids of the projection's messages that the checkpoint does not hold. */
  readonly withdrawn: readonly string[];
  /** `undefined` when the executor could not read the checkpoint. */
  readonly snapshot: PayloadOf<"state_snapshot"> | undefined;
}

/** R6: compares a projection with the checkpoint, which is the truth. Repeats only what differs. */
export function reconcile(
  projection: ThreadProjection,
  final: GraphFinal,
  stateKeys: StateKeys | undefined,
): Reconciliation {
  if (final.state === undefined && final.messages === undefined && final.checkpointId === undefined)
    return { withdrawn: [], snapshot: undefined };
  const snapshot: PayloadOf<"state_snapshot"> = {};
  if (final.checkpointId !== undefined) snapshot.checkpoint_id = final.checkpointId;
  if (final.state) {
    const state = visibleState(final.state, stateKeys, projection.state);
    if (diffState(projection.state, state).kind !== "none") snapshot.state = state;
  }
  if (!final.messages) return { withdrawn: [], snapshot };
  const { withdrawn, ...messages } = diffMessages(projection, final.messages);
  return { withdrawn, snapshot: { ...snapshot, ...messages } };
}

type MessagesDiff = Pick<Reconciliation, "withdrawn"> &
  Pick<PayloadOf<"state_snapshot">, "changed_messages" | "messages">;

/**
 * Computes the change from the projection's messages to the checkpoint's. Only between the first and the last difference are
 * messages repeated, and there only new or changed ones, unless the order differs. The whole list where that is all of it.
 */
function diffMessages(projection: ThreadProjection, truth: readonly Message[]): MessagesDiff {
  const shown = inCallOrder(currentMessages(projection).filter(isConversation));
  const wanted = inCallOrder(truth);
  let from = 0;
  while (from < shown.length && from < wanted.length && isSame(shown[from], wanted[from])) from += 1;
  let sameAtEnd = 0;
  const most = Math.min(shown.length, wanted.length) - from;
  while (sameAtEnd < most && isSame(shown.at(-1 - sameAtEnd), wanted.at(-1 - sameAtEnd))) sameAtEnd += 1;
  const middle = wanted.slice(from, wanted.length - sameAtEnd);
  const ids = new Set(middle.map(({ id }) => id));
  const held = shown.slice(from, shown.length - sameAtEnd);
  const withdrawn = held.map(({ id }) => id).filter((id) => !ids.has(id));
  const stays = held.filter(({ id }) => ids.has(id));
  const known = new Map(stays.map((message) => [message.id, message]));
  const order = middle.filter(({ id }) => known.has(id));
  const isInOrder = order.every(({ id }, index) => id === stays[index]?.id);
  const changed = middle.flatMap((message, index) => {
    if (isInOrder && isSame(known.get(message.id), message)) return [];
    return [{ after: wanted[from + index - 1]?.id ?? null, message }];
  });
  if (changed.length === 0) return { withdrawn };
  if (changed.length === truth.length) return { withdrawn: [], messages: [...truth] };
  return { withdrawn, changed_messages: changed };
}

/**
 * Sorts the results of parallel calls, which are in order of arrival in the projection and in order of the calls in the
 * checkpoint. Their order has no meaning, and a whole snapshot would be a high price for it.
 */
function inCallOrder(messages: readonly Message[]): readonly Message[] {
  const ordered = [...messages];
  let from = 0;
  while (from < ordered.length) {
    let to = from;
    while (ordered[to]?.role === "tool") to += 1;
    if (to - from > 1) {
      const group = ordered.slice(from, to).sort((a, b) => (a.id < b.id ? -1 : 1));
      ordered.splice(from, group.length, ...group);
    }
    from = to + 1;
  }
  return ordered;
}

function isSame(shown: Message | undefined, truth: Message | undefined): boolean {
  if (!shown || !truth || shown.id !== truth.id || shown.role !== truth.role) return false;
  if (shown.tool_call_id !== truth.tool_call_id) return false;
  if (!sameContent(shown.content, truth.content)) return false;
  const calls = truth.tool_calls ?? [];
  const shownCalls = shown.tool_calls ?? [];
  return (
    shownCalls.length === calls.length &&
    shownCalls.every((call, index) => {
      const other = calls[index];
      return (
        other !== undefined &&
        call.id === other.id &&
        call.name === other.name &&
        sameArgs(call.args, other.args)
      );
    })
  );
}

function sameContent(a: Message["content"], b: Message["content"]): boolean {
  return a === b || (typeof a !== "string" && JSON.stringify(a) === JSON.stringify(b));
}

/** Compares arguments as JSON: the model's own text and the parsed call may differ in white space only. */
function sameArgs(a: string, b: string): boolean {
  if (a === b) return true;
  try {
    return JSON.stringify(JSON.parse(a || "{}")) === JSON.stringify(JSON.parse(b || "{}"));
  } catch {
    return false;
  }
}
