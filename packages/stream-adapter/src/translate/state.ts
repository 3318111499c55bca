import type { JsonObject } from "@throughline/ai-core";
import { read, toPlain } from "@throughline/coerce";
import { diffState } from "../delta/state-delta.js";
import type { CallSite, DraftSink } from "../envelope-draft.js";

/** The keys of a state that a client may see: all of them by name, or a predicate where not all names are known. */
export type StateKeys = readonly string[] | ((key: string) => boolean);

export interface StateTrackerOptions {
  readonly sink: DraftSink;
  readonly root: CallSite;
  readonly initial: JsonObject;
  /** Keys of the graph's output schema; all keys when it is not known. */
  readonly stateKeys: StateKeys | undefined;
}

export interface StateTracker {
  /** A task of the root graph has begun, or what it wrote has been told by `wrote`. */
  taskBegan(id: string): void;
  taskEnded(id: string): void;
  /** A node's update of the root state, as the graph tells it. */
  wrote(update: unknown): void;
  /** The root graph's whole state, as `values` gives it. Costs what was written since the last one, where that is known. */
  values(values: unknown): void;
  /** A graph shows a state it has not committed (`manually_emit_state`). */
  preview(values: unknown): void;
}

const HIDDEN_KEYS = new Set(["messages", "__interrupt__", "__metadata__", "__proto__"]);

/**
 * The state a client may see: output-schema keys, without `messages`, which travel as messages; sharing all it can with
 * `previous`. Where it is known which keys were written, the others are taken from there as they are.
 */
export function visibleState(
  values: unknown,
  stateKeys: StateKeys | undefined,
  previous: JsonObject = {},
  written?: ReadonlySet<string>,
): JsonObject {
  const state: JsonObject = {};
  if (typeof values !== "object" || values === null) return state;
  const keys = typeof stateKeys === "function" ? Object.keys(values).filter(stateKeys) : stateKeys;
  for (const key of keys ?? Object.keys(values)) {
    if (HIDDEN_KEYS.has(key)) continue;
    const raw = read(values, key);
    if (raw === undefined || typeof raw === "function") continue;
    const known = previous[key];
    state[key] = known !== undefined && written && !written.has(key) ? known : toPlain(raw, known);
  }
  return state;
}

export function createStateTracker({ sink, root, initial, stateKeys }: StateTrackerOptions): StateTracker {
  // Our own copy: in-process values are live references, and a node may go on mutating what it returned.
  let state = initial;
  /** Keys that updates have named since the last `values`. Before the first one, nothing is known of what was written. */
  let written: Set<string> | undefined;
  /** A task that was begun by an earlier run is announced again, but not what it wrote. */
  const running = new Set<string>();
  let tellsTasks = false;

  function show(next: JsonObject): void {
    const change = diffState(state, next);
    if (change.kind === "none") return;
    state = next;
    if (change.kind === "snapshot") sink.emit("state_snapshot", root, { state: next });
    else sink.emit("state_delta", root, { ops: change.ops });
  }

  return {
    taskBegan(id) {
      tellsTasks = true;
      running.add(id);
    },
    taskEnded: (id) => void running.delete(id),
    wrote(update) {
      for (const part of Array.isArray(update) ? update : [update]) {
        if (typeof part !== "object" || part === null) continue;
        for (const key of Object.keys(part)) written?.add(key);
      }
    },
    values(values) {
      if (isBareInterrupt(values)) return;
      const isAllNamed = tellsTasks && running.size === 0 && written !== undefined && written.size > 0;
      show(visibleState(values, stateKeys, state, isAllNamed ? written : undefined));
      written = new Set();
      running.clear();
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
