import type { Json, JsonObject } from "@throughline/ai-core";
import type { Command, CommandAck } from "../commands/command.js";
import type { RequestFailure } from "../connection/connection-state.js";
import type { SseText } from "./event-stream.js";

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

/** Tools and context sent with a request. */
export interface RequestContext {
  readonly tools: readonly ToolDeclaration[];
  readonly context: readonly { readonly description: string; readonly value: Json }[];
}

/** One subscription of a stream. */
export interface FollowedThread extends ThreadName {
  /** As frames to be shown, or as the log itself. */
  readonly view: "ag-ui" | "envelopes";
  /** The position to resume from. */
  readonly cursor: string | undefined;
}

/** An entry of a thread's log, as unparsed text: its reader parses it. */
export interface LogEntryText extends SseText {
  readonly id: string;
}

/** Receives the events of a stream. `at`: the index of the thread in the request. */
export interface FollowSink {
  /** The stream was accepted. */
  opened(): void;
  /** Any bytes were received, heartbeats included. */
  received(): void;
  /** Events of one thread from one read: frames or log entries, as requested. */
  events(at: number, events: readonly SseText[]): void;
  /** The service ended this subscription, and continues the others. */
  ended(at: number, failure: Extract<RequestFailure, { kind: "refused" }>): void;
}

export type StreamEnd =
  | { readonly kind: "ended" }
  | { readonly kind: "failed"; readonly failure: RequestFailure };

/** The port of the service. No method rejects: a failure is an outcome. */
export interface AgentService {
  agents(): Promise<readonly AgentInfo[] | RequestFailure>;
  /** Follows threads on one stream until the signal aborts, the stream ends, or it fails. */
  follow(threads: readonly FollowedThread[], signal: AbortSignal, sink: FollowSink): Promise<StreamEnd>;
  /** Requests a run; its events are received by `follow`. */
  send(
    thread: ThreadName,
    command: Exclude<Command, { kind: "stop" }>,
    circumstances: RequestContext,
  ): Promise<CommandAck>;
  /** `false`: whether it arrived is not known. */
  stop(thread: ThreadName, runId: string | undefined): Promise<boolean>;
  /** Reads a thread's current status, or the changes since `cursor`; `undefined` when the service does not respond. */
  poll(thread: ThreadName, cursor: string | undefined): Promise<readonly SseText[] | undefined>;
  /** Requests new credentials; `false`: there are none. */
  renew(): Promise<boolean>;
}

export function isFailure(value: readonly AgentInfo[] | RequestFailure): value is RequestFailure {
  return !Array.isArray(value);
}
