import type { Json, JsonObject } from "@throughline/ai-core";
import type { Answer, Command } from "../commands/command.js";
import type { StreamFailure } from "../connection/connection-state.js";
import type { EventText } from "./event-stream.js";

/** `private`: one person's. `account`: shared by all people of the account. */
export type Visibility = "private" | "account";

export interface ThreadName {
  readonly agentId: string;
  readonly threadId: string;
  /** Whose thread is meant; absent: the caller's own, or the account's where the caller is no person. */
  readonly visibility?: Visibility | undefined;
}

/** A tool that runs in the page. */
export interface ToolDeclaration {
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  readonly parameters: JsonObject;
}

export interface AgentInfo {
  readonly agentId: string;
  readonly name: string;
  readonly description: string;
  /** Names of the commands it understands. */
  readonly commands: readonly string[];
}

/** What is said beside a wish. */
export interface Circumstances {
  readonly tools: readonly ToolDeclaration[];
  readonly context: readonly { readonly description: string; readonly value: Json }[];
}

/** One thread that a stream is asked to carry. */
export interface FollowedThread extends ThreadName {
  /** As frames to be shown, or as the log itself. */
  readonly view: "ag-ui" | "envelopes";
  /** Goes on from there. */
  readonly cursor: string | undefined;
}

/** An entry of a thread's log, as text: it is read by who shows it. */
export interface LogText extends EventText {
  readonly id: string;
}

/** `at`: which of the threads that were asked for. */
export interface FollowSink {
  /** The stream was accepted. */
  opened(): void;
  /** Anything at all was read, heartbeats included. */
  heard(): void;
  /** Events of one thread that came together: frames or entries of its log, as it was asked for. */
  events(at: number, events: readonly EventText[]): void;
  /** The service says no more of this one, and goes on with the others. */
  ended(at: number, failure: Extract<StreamFailure, { kind: "refused" }>): void;
}

export type StreamEnd =
  | { readonly kind: "ended" }
  | { readonly kind: "failed"; readonly failure: StreamFailure };

/** The service as the client sees it. Nothing here rejects: what goes wrong is an outcome. */
export interface ServicePort {
  agents(): Promise<readonly AgentInfo[] | StreamFailure>;
  /** Follows threads on one stream until the signal says otherwise, the stream ends, or it fails. */
  follow(threads: readonly FollowedThread[], signal: AbortSignal, sink: FollowSink): Promise<StreamEnd>;
  /** Asks for a run; what it does is read by `follow`. */
  send(
    thread: ThreadName,
    command: Exclude<Command, { kind: "stop" }>,
    circumstances: Circumstances,
  ): Promise<Answer>;
  /** `false`: whether it arrived is not known. */
  stop(thread: ThreadName, runId: string | undefined): Promise<boolean>;
  /** How a thread stands right now, or what changed since `cursor`; `undefined` when the service does not say. */
  poll(thread: ThreadName, cursor: string | undefined): Promise<readonly EventText[] | undefined>;
  /** Asks for new credentials; `false`: there are none. */
  renew(): Promise<boolean>;
}

export function isFailure(value: readonly AgentInfo[] | StreamFailure): value is StreamFailure {
  return !Array.isArray(value);
}
