import type { GraphFinal, Message, PayloadOf } from "@throughline/ai-core";
import { currentMessages, isConversation, type ThreadFold } from "@throughline/reading";
import { diffState } from "../delta/state-delta.js";
import { visibleState } from "../translate/state-tracker.js";

/**
 * R6: the checkpoint is the truth. Gives the authoritative snapshot of a finished run, which repeats only what the log got
 * wrong. `undefined` when the executor could not read the checkpoint.
 */
export function reconcile(
  fold: ThreadFold,
  final: GraphFinal,
  stateKeys: readonly string[] | undefined,
): PayloadOf<"state_snapshot"> | undefined {
  if (final.state === undefined && final.messages === undefined && final.checkpointId === undefined)
    return undefined;
  const snapshot: PayloadOf<"state_snapshot"> = {};
  if (final.checkpointId !== undefined) snapshot.checkpoint_id = final.checkpointId;
  if (final.state) {
    const state = visibleState(final.state, stateKeys, fold.state);
    if (diffState(fold.state, state).kind !== "none") snapshot.state = state;
  }
  if (final.messages && !sameMessages(fold, final.messages)) snapshot.messages = [...final.messages];
  return snapshot;
}

function sameMessages(fold: ThreadFold, truth: readonly Message[]): boolean {
  const shown = inCallOrder(currentMessages(fold).filter(isConversation));
  const wanted = inCallOrder(truth);
  return shown.length === wanted.length && shown.every((message, index) => isSame(message, wanted[index]));
}

/**
 * Results of parallel calls stand in the order in which they came in, the checkpoint's in that of the calls. Their
 * order means nothing, and a whole snapshot would be a high price for it.
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

function isSame(shown: Message, truth: Message | undefined): boolean {
  if (!truth || shown.id !== truth.id || shown.role !== truth.role) return false;
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

/** The model's own text and the parsed call may differ in white space and say the same. */
function sameArgs(a: string, b: string): boolean {
  if (a === b) return true;
  try {
    return JSON.stringify(JSON.parse(a || "{}")) === JSON.stringify(JSON.parse(b || "{}"));
  } catch {
    return false;
  }
}
