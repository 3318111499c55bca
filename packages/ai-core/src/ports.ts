import type { Caller } from "./context/run-context.js";
import type { LogEntry } from "./envelope/log-entry.js";
import type { Json } from "./json/json.js";
import type { UsageFact } from "./usage/usage.js";

/** The thread that an attachment belongs to, and its caller. */
export interface AttachmentOwner {
  readonly caller: Pick<Caller, "billingAccountId" | "subject">;
  readonly threadId: string;
}

/** A file in a message of a graph. Its id is derived from its content, so that it is known before the file is stored. */
export interface EmbeddedFile {
  readonly id: string;
  readonly mimeType: string;
  readonly filename: string | undefined;
  readonly bytes: number;
  /** The file's bytes, in chunks that are decoded lazily. */
  content(): Iterable<Uint8Array>;
}

/** The reason why a file is not stored, as a text for people; `undefined` when it is stored. */
export type StorageRefusal = string | undefined;

/** Reads the bytes of the attachments in a graph's messages, and stores the files that the graph makes. */
export interface AttachmentPort {
  /** `undefined` when the thread has no such attachment, or no longer; `too_large` when the run has loaded too much already. */
  readAttachment(owner: AttachmentOwner, id: string): Promise<Uint8Array | "too_large" | undefined>;
  /** Stores a file as an attachment of the thread; one that the thread has is not stored again. */
  storeFile(owner: AttachmentOwner, file: EmbeddedFile): Promise<StorageRefusal>;
}

/**
 * Applies entries to a projection and encodes it, so that the log can store snapshots (R20) without knowing the projection:
 * `apply(apply(s, a), b)` equals `apply(s, a ++ b)`, and `decode(encode(s))` equals `s`.
 */
export interface ProjectionCodec<State> {
  /** The version of the snapshots it writes. Changes whenever an old snapshot could no longer be read correctly. */
  readonly version: number;
  /** Versions of the snapshots that `decode` reads, its own included. */
  readonly reads: readonly number[];
  readonly empty: State;
  apply(state: State, entries: readonly LogEntry[]): State;
  encode(state: State): Json;
  /** `undefined` when the snapshot is of a version that is not read. */
  decode(snapshot: Json, version: number): State | undefined;
}
/**
 * R32: a graph's `configurable` carries a key's id, never the key, because LangGraph writes `configurable` into
 * checkpoints. The token is fetched when a request is sent and stored nowhere that a graph can reach.
 */
export interface KeyResolver {
  /**
   * Returns the provider token of a virtual key, or throws a `ThroughlineError` (`unauthorized`) that names the id. With an
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
   * For stores in the registry's own database: a query that returns one row while the fence is held, and none otherwise. Its
   * two parameters are `$first` (the run's id, text) and `$first + 1` (the token, bigint). As part of a write it makes the
   * fence a condition of that write: the row is locked until the write commits, so that no recovery can happen in between.
   */
  readonly heldQuery?: ((first: number) => string) | undefined;
}

/** Records model calls for billing. */
export interface UsagePort {
  /** Records a call with its known facts; a missing cost marks the run unbilled and never fails the response. */
  record(fact: UsageFact): Promise<void>;
}
