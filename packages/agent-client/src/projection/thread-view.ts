import type { ErrorClass, Json, JsonObject } from "@throughline/ai-core";
import type { RunErrorView, WireInterrupt } from "../wire/agent-event.js";

export interface ToolCallView {
  readonly id: string;
  readonly name: string;
  /** JSON text, as far as received. */
  readonly args: string;
}

export type MessageRole = "user" | "assistant" | "tool" | "system" | "developer" | "reasoning";

export interface ThreadMessage {
  readonly id: string;
  readonly role: MessageRole;
  readonly content: string | readonly JsonObject[];
  readonly toolCalls?: readonly ToolCallView[] | undefined;
  /** Set on a tool result: the call that it belongs to. */
  readonly toolCallId?: string | undefined;
  /** Set on a tool result: the tool failed. */
  readonly failed?: true | undefined;
  readonly name?: string | undefined;
  /** Set on a message inside a subagent, which is no part of the conversation itself. */
  readonly subagentRunId?: string | undefined;
  /**
   * The run that delivered it, by the service's own id: a user message belongs to the run that it started. Unknown for messages
   * that passed without a subscriber, and for those that the service does not have yet.
   */
  readonly runId?: string | undefined;
  /** Set on a message that the service has not confirmed; `unsent`: it was refused. */
  readonly local?: "sending" | "unsent";
}

/** A run, or a call within one. See section 5.9 of the protocol. */
export interface CallView {
  readonly runId: string;
  readonly callId: string;
  readonly parentId: string | null;
  readonly kind: "run" | "node" | "subgraph" | "model" | "tool";
  readonly name: string;
  readonly attempt: number;
  readonly status: "running" | "ok" | "error" | "interrupted" | "cancelled" | "lost";
  /** Seconds since the Unix epoch. */
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly messageId?: string;
  readonly toolCallId?: string;
  readonly args?: Json;
  readonly result?: Json;
  readonly progress?: Json;
  readonly usage?: {
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly total_tokens: number;
  };
  readonly startedBy?: {
    readonly kind: "client" | "cron" | "foreign";
    readonly id?: string;
    /** The person who started the run, if it was one. */
    readonly person?: string;
  };
  /** Set on a run with interrupt responses: their texts, worded to follow a name, as in "chose KLM". */
  readonly answered?: readonly { readonly interruptId: string; readonly words: string }[];
  /** How many calls below it the service no longer stores. */
  readonly earlier?: number;
  /** Why it failed, where the graph itself failed. */
  readonly error?: CallErrorView;
}

/** A failure. Its message is the graph's own only where the service shows those. */
export interface CallErrorView {
  readonly message: string;
  /** Absent for a run that passed without a subscriber. */
  readonly class?: ErrorClass;
  /** The node that threw. */
  readonly node: string | null;
  /** Set for a run. */
  readonly code?: string;
  /** The name of the graph's own error, where the service shows those. */
  readonly name?: string;
  readonly stack?: string;
}

export interface ThreadRun {
  /** The client's own id where it gave one, else the service's. */
  readonly runId: string;
  /** The service's own id. */
  readonly serviceRunId: string;
  readonly attempt: number;
  readonly status: "running" | "success" | "interrupted" | "cancelled" | "error";
  readonly error: RunErrorView | null;
}

export interface RunUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly modelCalls: number;
  /** `null` where nothing was metered, or no call has a price yet. */
  readonly costUsd: number | null;
  /** `false` where a call had no price when the run ended: the cost is that of the others. */
  readonly isComplete: boolean;
}

/** An argument of a call that a tool will put into the state (protocol, section 2.10). */
export interface StatePrediction {
  readonly stateKey: string;
  readonly messageId: string;
  readonly toolCallId: string;
  /** The argument whose value is the state's; `undefined`: all of them together are. */
  readonly argument: string | undefined;
  /** The state's value under the key before. Once the value differs, the tool has written it. */
  readonly base: Json | undefined;
}

/** A streaming message. Its text is stored here, not in `messages`, so that a token costs O(1). */
export interface OpenMessage {
  readonly message: ThreadMessage;
  /** A text or reasoning is under way; else only calls of it are. */
  readonly isSpeaking: boolean;
  readonly openCalls: readonly string[];
}

/**
 * Everything a page shows of a thread. Never mutated; unchanged parts retain their identity, so `===` decides what to render.
 * Read messages through `messageAt` and `messageById`.
 */
export interface ThreadView {
  readonly messages: readonly ThreadMessage[];
  /** The index of each message by id. Shared while `messages` grows; a view ignores indexes beyond its own length. */
  readonly indexById: ReadonlyMap<string, number>;
  readonly open: readonly OpenMessage[];
  readonly state: JsonObject;
  /** Predicted changes of the state by calls of the active run. */
  readonly predictions: readonly StatePrediction[];
  /** Every run, each followed by its calls that the service stores, in the order they began. */
  readonly calls: readonly CallView[];
  /** Names of active steps. */
  readonly steps: readonly string[];
  readonly interrupts: readonly WireInterrupt[];
  /** The active run, else the last one. */
  readonly run: ThreadRun | null;
  /** The usage of the last run that ended. */
  readonly usage: RunUsage | null;
}

export const emptyThreadView: ThreadView = {
  messages: [],
  indexById: new Map(),
  open: [],
  state: {},
  predictions: [],
  calls: [],
  steps: [],
  interrupts: [],
  run: null,
  usage: null,
};

/** Returns the current message at an index, including text that still streams. O(open messages). */
export function messageAt(view: ThreadView, index: number): ThreadMessage | undefined {
  const message = view.messages[index];
  if (message === undefined || view.open.length === 0) return message;
  return view.open.find((open) => open.message.id === message.id)?.message ?? message;
}

export function messageById(view: ThreadView, id: string): ThreadMessage | undefined {
  const index = view.indexById.get(id);
  const found = index === undefined ? undefined : messageAt(view, index);
  return found?.id === id ? found : undefined;
}

/** Returns all current messages. O(messages) while one streams: to render one message, read that one. */
export function currentMessages(view: ThreadView): readonly ThreadMessage[] {
  if (view.open.length === 0) return view.messages;
  return view.messages.map((message, index) => messageAt(view, index) ?? message);
}

/** Returns the text of a message's content, in either of its forms. Files and other parts have no text. */
export function contentText(content: ThreadMessage["content"] = ""): string {
  if (typeof content === "string") return content;
  return content
    .flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []))
    .join("\n\n");
}
