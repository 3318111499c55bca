import type { ErrorClass, Json, JsonObject } from "@throughline/ai-core";
import type { RunErrorView, WireInterrupt } from "../wire/agent-event.js";

export interface ToolCallView {
  readonly id: string;
  readonly name: string;
  /** JSON text, as far as it has come. */
  readonly args: string;
}

export type MessageRole = "user" | "assistant" | "tool" | "system" | "developer" | "reasoning";

export interface MessageView {
  readonly id: string;
  readonly role: MessageRole;
  readonly content: string | readonly JsonObject[];
  readonly toolCalls?: readonly ToolCallView[] | undefined;
  /** Of a tool's result: the call it answers. */
  readonly toolCallId?: string | undefined;
  /** Of a tool's result: the tool failed. */
  readonly failed?: true | undefined;
  readonly name?: string | undefined;
  /** Said inside a subagent: no part of the conversation itself. */
  readonly subagentRunId?: string | undefined;
  /**
   * The run that brought it, under the service's own id: what a person said belongs to the run that carried it. Unknown of
   * what passed while nobody watched, and of what the service does not have yet.
   */
  readonly runId?: string | undefined;
  /** Shown here before the service has it; `unsent`: it was refused. */
  readonly local?: "sending" | "unsent";
}

/** A piece of work: a run, or what happened within one. See section 5.9 of the protocol. */
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
    /** Who asked for the run, where that was a person. */
    readonly person?: string;
  };
  /** Of a run that answered questions: what was answered, in words that stand behind a name, as in "chose KLM". */
  readonly answered?: readonly { readonly interruptId: string; readonly words: string }[];
  /** How many calls below it the service no longer keeps. */
  readonly earlier?: number;
  /** Why it failed, where the graph itself is what failed. */
  readonly error?: CallErrorView;
}

/** What is known of a failure. Its message is the graph's own only where the service shows those. */
export interface CallErrorView {
  readonly message: string;
  /** Absent of a run that passed unwatched. */
  readonly class?: ErrorClass;
  /** The node that threw. */
  readonly node: string | null;
  /** Of a run. */
  readonly code?: string;
  /** Of the graph's own error, where the service shows those. */
  readonly name?: string;
  readonly stack?: string;
}

export interface RunView {
  /** The client's own id where it gave one, else the service's. */
  readonly runId: string;
  /** The service's own id. */
  readonly serviceRunId: string;
  readonly attempt: number;
  readonly status: "running" | "success" | "interrupted" | "cancelled" | "error";
  readonly error: RunErrorView | null;
}

export interface UsageView {
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
  /** What the state had under the key before. Once it has something else, the tool has spoken. */
  readonly base: Json | undefined;
}

/** A message that streams. Its text lives here, not in `messages`, so that a token costs O(1). */
export interface OpenMessage {
  readonly message: MessageView;
  /** A text or reasoning is under way; else only calls of it are. */
  readonly isSpeaking: boolean;
  readonly openCalls: readonly string[];
}

/**
 * Everything a page shows of a thread. Never mutated; what did not change keeps its identity, so `===` says what to render.
 * Read messages through `messageAt` and `messageById`.
 */
export interface ThreadView {
  readonly messages: readonly MessageView[];
  /** Where each message stands. Only ever added to while `messages` grows; a view looks no further than its own length. */
  readonly places: ReadonlyMap<string, number>;
  readonly open: readonly OpenMessage[];
  readonly state: JsonObject;
  /** What calls of the run under way will make of the state. */
  readonly predictions: readonly StatePrediction[];
  /** Every run, and behind each the work within it that the service keeps, in the order it began. */
  readonly calls: readonly CallView[];
  /** Names of steps under way. */
  readonly steps: readonly string[];
  readonly interrupts: readonly WireInterrupt[];
  /** The run under way, else the last one. */
  readonly run: RunView | null;
  /** Of the last run that ended. */
  readonly usage: UsageView | null;
}

export const emptyView: ThreadView = {
  messages: [],
  places: new Map(),
  open: [],
  state: {},
  predictions: [],
  calls: [],
  steps: [],
  interrupts: [],
  run: null,
  usage: null,
};

/** The message as it stands, text still streaming included. O(open messages). */
export function messageAt(view: ThreadView, index: number): MessageView | undefined {
  const message = view.messages[index];
  if (message === undefined || view.open.length === 0) return message;
  return view.open.find((open) => open.message.id === message.id)?.message ?? message;
}

export function messageById(view: ThreadView, id: string): MessageView | undefined {
  const place = view.places.get(id);
  const found = place === undefined ? undefined : messageAt(view, place);
  return found?.id === id ? found : undefined;
}

/** All messages as they stand. O(messages) while one streams: for rendering one message, ask for that one. */
export function currentMessages(view: ThreadView): readonly MessageView[] {
  if (view.open.length === 0) return view.messages;
  return view.messages.map((message, index) => messageAt(view, index) ?? message);
}

/** The words of a message, whichever way they are carried: files and other parts have none. */
export function contentText(content: MessageView["content"] = ""): string {
  if (typeof content === "string") return content;
  return content
    .flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []))
    .join("\n\n");
}
