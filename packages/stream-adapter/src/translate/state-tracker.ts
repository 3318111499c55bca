import type { JsonObject } from "@throughline/ai-core";
import { read, toPlain } from "@throughline/coerce";
import { diffState } from "../delta/state-delta.js";
import type { CallSite, DraftSink } from "./draft.js";

export interface StateTrackerOptions {
  readonly sink: DraftSink;
  readonly root: CallSite;
  readonly initial: JsonObject;
  /** Keys of the graph's output schema; all keys when it is not known. */
  readonly stateKeys: readonly string[] | undefined;
}

export interface StateTracker {
  /** The root graph's whole state, as `values` gives it. */
  values(values: unknown): void;
  /** A graph shows a state it has not committed (`manually_emit_state`). */
  preview(values: unknown): void;
}

const HIDDEN_KEYS = new Set(["messages", "__interrupt__", "__metadata__", "__proto__"]);

/** The state a client may see: output-schema keys, without `messages`, which travel as messages; sharing all it can with `previous`. */
export function visibleState(
  values: unknown,
  stateKeys: readonly string[] | undefined,
  previous: JsonObject = {},
): JsonObject {
  const state: JsonObject = {};
  if (typeof values !== "object" || values === null) return state;
  for (const key of stateKeys ?? Object.keys(values)) {
    if (HIDDEN_KEYS.has(key)) continue;
    const raw = read(values, key);
    if (raw === undefined || typeof raw === "function") continue;
    state[key] = toPlain(raw, previous[key]);
  }
  return state;
}

export function createStateTracker({ sink, root, initial, stateKeys }: StateTrackerOptions): StateTracker {
  // Our own copy: in-process values are live references, and a node may go on mutating what it returned.
  let state = initial;

  function show(next: JsonObject): void {
    const change = diffState(state, next);
    if (change.kind === "none") return;
    state = next;
    if (change.kind === "snapshot") sink.emit("state_snapshot", root, { state: next });
    else sink.emit("state_delta", root, { ops: change.ops });
  }

  return {
    values(values) {
      if (isBareInterrupt(values)) return;
      show(visibleState(values, stateKeys, state));
    },
    preview(values) {
      show({ ...state, ...visibleState(values, stateKeys, state) });
    },
  };
}

/** On an interrupt the last `values` is `{ __interrupt__ }` alone: not a state. */
function isBareInterrupt(values: unknown): boolean {
  if (typeof values !== "object" || values === null) return true;
  const keys = Object.keys(values);
  return keys.length === 1 && keys[0] === "__interrupt__";
}
