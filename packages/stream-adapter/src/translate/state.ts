import type { JsonObject } from "@throughline/ai-core";
import { read, toPlain } from "@throughline/coerce";
import { diffState } from "../delta/state-delta.js";
import type { CallSite, DraftBuffer } from "../envelope-draft.js";

/** The keys of a state that a client may see: all of them by name, or a predicate where not all names are known. */
export type StateKeys = readonly string[] | ((key: string) => boolean);

export interface StateChangesOptions {
  readonly sink: DraftBuffer;
  readonly root: CallSite;
  readonly initial: JsonObject;
  /** Keys of the graph's output schema; all keys when it is not known. */
  readonly stateKeys: StateKeys | undefined;
}

export interface StateChanges {
  /** Records that a task of the root graph has begun. */
  taskBegan(id: string): void;
  taskEnded(id: string): void;
  /** Records the keys of a node's update of the root state. */
  wrote(update: unknown): void;
  /** Emits the change to the root graph's whole state. The cost is that of the keys written since the last one, where known. */
  values(values: unknown): void;
  /** Emits a state that the graph has not committed (`manually_emit_state`). */
  preview(values: unknown): void;
}

const HIDDEN_KEYS = new Set(["messages", "__interrupt__", "__metadata__", "__proto__"]);

/**
 * The state a client may see: output-schema keys, without `messages`, which are sent as messages; sharing all it can with
 * `previous`. Where the written keys are known, the values of all others are copied from there.
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

export function createStateChanges({ sink, root, initial, stateKeys }: StateChangesOptions): StateChanges {
  // Our own copy: in-process values are live references, and a node may still mutate the value it returned.
  let state = initial;
  /** Keys of the updates since the last `values`. Before the first one, the written keys are unknown. */
  let written: Set<string> | undefined;
  /** Tasks without an end. A task that an earlier run began is announced again, but its writes are not. */
  const running = new Set<string>();
  let reportsTasks = false;

  function show(next: JsonObject): void {
    const change = diffState(state, next);
    if (change.kind === "none") return;
    state = next;
    if (change.kind === "snapshot") sink.emit("state_snapshot", root, { state: next });
    else sink.emit("state_delta", root, { ops: change.ops });
  }

  return {
    taskBegan(id) {
      reportsTasks = true;
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
      const isAllNamed = reportsTasks && running.size === 0 && written !== undefined && written.size > 0;
      show(visibleState(values, stateKeys, state, isAllNamed ? written : undefined));
      written = new Set();
      running.clear();
    },
    preview(values) {
      show({ ...state, ...visibleState(values, stateKeys, state) });
    },
  };
}

/** Whether `values` is `{ __interrupt__ }` alone, as the last one on an interrupt is: not a state. */
function isBareInterrupt(values: unknown): boolean {
  if (typeof values !== "object" || values === null) return true;
  const keys = Object.keys(values);
  return keys.length === 1 && keys[0] === "__interrupt__";
}
