import type { Json, JsonObject } from "@throughline/ai-core";
import type { Answer, Command } from "../commands/command.js";
import type { StreamFailure } from "../connection/connection.js";
import type { AgentFrame } from "../wire/agent-event.js";

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

export interface StreamSink {
  /** The stream was accepted. */
  opened(): void;
  /** Anything at all was read, heartbeats included. */
  heard(): void;
  frames(frames: readonly AgentFrame[]): void;
}

export type StreamEnd =
  | { readonly kind: "ended" }
  | { readonly kind: "failed"; readonly failure: StreamFailure };

/** The service as the client sees it. Nothing here rejects: what goes wrong is an outcome. */
export interface ServicePort {
  agents(): Promise<readonly AgentInfo[] | StreamFailure>;
  /** Follows a thread until the signal says otherwise, the stream ends, or it fails. `cursor`: goes on from there. */
  connect(
    thread: ThreadName,
    options: Circumstances & { readonly cursor: string | undefined; readonly signal: AbortSignal },
    sink: StreamSink,
  ): Promise<StreamEnd>;
  /** Asks for a run; what it does is read by `connect`. */
  send(
    thread: ThreadName,
    command: Exclude<Command, { kind: "stop" }>,
    circumstances: Circumstances,
  ): Promise<Answer>;
  /** `false`: whether it arrived is not known. */
  stop(thread: ThreadName, runId: string | undefined): Promise<boolean>;
  /** How a thread stands right now; `undefined` when nobody says. */
  poll(thread: ThreadName): Promise<readonly AgentFrame[] | undefined>;
  /** Asks for new credentials; `false`: there are none. */
  renew(): Promise<boolean>;
}

export function isFailure(value: readonly AgentInfo[] | StreamFailure): value is StreamFailure {
  return !Array.isArray(value);
}
