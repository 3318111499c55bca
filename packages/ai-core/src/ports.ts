import type { Caller } from "./context/run-context.js";
import type { LogEntry } from "./envelope/log-entry.js";
import type { Json } from "./json/json.js";
import type { UsageFact } from "./usage/usage.js";

/** Whose thread an attachment belongs to. */
export interface AttachmentOwner {
  readonly caller: Pick<Caller, "billingAccountId" | "subject">;
  readonly threadId: string;
}

/** A file in a message that a graph made: named by its content, so that the name is known before it is stored. */
export interface FoundFile {
  readonly id: string;
  readonly mimeType: string;
  readonly filename: string | undefined;
  readonly bytes: number;
  /** Its bytes, in chunks that are decoded as they are asked for. */
  content(): Iterable<Uint8Array>;
}

/** Why a file is not stored, in words that a person may read; `undefined` when it is. */
export type NotKept = string | undefined;

/** Gives a graph the bytes behind the addresses in its messages, and keeps those that it makes. */
export interface AttachmentPort {
  /** `undefined` when the thread has no such attachment, or no longer; `too_large` when the run holds too much already. */
  readAttachment(owner: AttachmentOwner, id: string): Promise<Uint8Array | "too_large" | undefined>;
  /** Makes a file an attachment of the thread; one that it has is not stored again. */
  keepFile(owner: AttachmentOwner, file: FoundFile): Promise<NotKept>;
}

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
/**
 * R32: a graph's `configurable` carries a key's id, never the key, because LangGraph writes `configurable` into
 * checkpoints. The token is fetched as a request is sent and kept by nothing that a graph can reach.
 */
export interface KeyResolver {
  /**
   * Gives the provider token of a virtual key, or throws a `ThroughlineError` (`unauthorized`) that names the id. With an
   * account, a key of another account is refused, and a resolver that makes keys makes this account's.
   */
  resolveKey(virtualKeyId: string, billingAccountId?: string): Promise<string>;
}
/** R17: proof that its holder may write a thread's log and checkpoints. A higher token wins for ever. */
export interface Fence {
  readonly threadId: string;
  readonly runId: string;
  readonly token: bigint;
}

export interface LeasePort {
  /** Resolves while the fence is the newest of its thread; otherwise throws a `conflict`. For stores that can't use `heldQuery`. */
  assertHeld(fence: Fence): Promise<void>;
  /**
   * For stores in the registry's own database: a query that gives one row while the fence is held, and none otherwise. Its
   * two parameters are `$first` (the run's id, text) and `$first + 1` (the token, bigint). As part of a write it makes the
   * fence a condition of that write: the row is locked until the write commits, so that no takeover can come between.
   */
  readonly heldQuery?: ((first: number) => string) | undefined;
}

/** Where model calls are recorded for billing. */
export interface UsagePort {
  /** Records a call with what is known of it; a missing cost marks the run unbilled and never fails the answer. */
  record(fact: UsageFact): Promise<void>;
}
