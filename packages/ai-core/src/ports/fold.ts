import type { LogEntry } from "../envelope/log-entry.js";
import type { Json } from "../json/json.js";

/**
 * What the log needs of a fold to keep snapshots (R20), without knowing what is folded: `apply(apply(s, a), b)` equals
 * `apply(s, a ++ b)`, and `decode(encode(s))` equals `s`.
 */
export interface FoldPort<State> {
  /** Of the snapshots it writes. Changes whenever an old snapshot could no longer be read rightly as it is. */
  readonly version: number;
  /** Versions of the snapshots that `decode` reads, its own included. */
  readonly reads: readonly number[];
  readonly empty: State;
  apply(state: State, entries: readonly LogEntry[]): State;
  encode(state: State): Json;
  /** `undefined` when the snapshot is of a version this fold does not read. */
  decode(snapshot: Json, version: number): State | undefined;
}
