import type {
  ContentPart,
  Interrupt,
  Json,
  JsonObject,
  Message,
  PayloadOf,
  RunStatus,
  TokenUsage,
  ToolCall,
} from "@throughline/ai-core";
import { shownContent } from "@throughline/coerce";
import type { CallTree } from "./fold-call.js";

/** A message of the thread. One that is not part of the conversation itself names the subagent it belongs to. */
export interface ProjectedMessage extends Message {
  readonly subagent_id?: string;
  /** A message of a subagent that restarted when its run was recovered: AG-UI allows a subagent one life in a run. */
  readonly unshown?: true;
  /** A thought without a message: people saw it, but it is no message of the thread. */
  readonly bare?: true;
  /** The run that wrote it. Unknown for runs that nothing observed. */
  readonly run_id?: string;
}

/** Whether a message is part of the conversation itself, as a checkpoint's messages are. */
export function isConversation(message: ProjectedMessage): boolean {
  return message.subagent_id === undefined && !message.bare;
}

export interface ProjectedRun {
  readonly run_id: string;
  readonly client_run_id: string | null;
  readonly attempt: number;
  readonly open: boolean;
  readonly status: RunStatus | null;
  /** Present on a run that failed. */
  readonly error?: PayloadOf<"run_end">["error"];
  /** The run represents runs that nothing observed: which of them wrote a message is not known. */
  readonly coarse?: true;
}

/** The subagent fields of a message that is added now. */
export function subagentTag(
  subagentId: string | null | undefined,
  { run }: ThreadProjection,
): Pick<ProjectedMessage, "subagent_id" | "unshown"> {
  if (subagentId === null || subagentId === undefined) return {};
  return { subagent_id: subagentId, ...(run && run.attempt > 0 && { unshown: true as const }) };
}

/** The run field of a message that is added now. */
export function runTag({ run }: ThreadProjection): Pick<ProjectedMessage, "run_id"> {
  return run?.open && !run.coarse ? { run_id: run.run_id } : {};
}

export interface OpenStep {
  readonly call_id: string;
  /** Unique among open steps, so that steps of the same node that run in parallel are distinguished. */
  readonly name: string;
  readonly base: string;
  readonly subagent_id: string | null;
}

/** A model call in progress. Its text lives here, not in `messages`, so that a token costs O(1). */
export interface OpenMessage {
  readonly call_id: string;
  readonly message_id: string;
  readonly subagent_id: string | null;
  /** A node returned the whole message: no model was called. */
  readonly synthetic: boolean;
  /** The message is in `messages`: text or a tool call has arrived. */
  readonly placed: boolean;
  readonly text: string;
  readonly text_open: boolean;
  /** Media of the message, each after `at` characters of the text. */
  readonly media?: readonly PositionedPart[];
  readonly reasoning: string;
  readonly reasoning_open: boolean;
  readonly tool_calls: readonly OpenToolCall[];
}

export interface PositionedPart {
  readonly at: number;
  readonly part: ContentPart;
}

export interface OpenToolCall extends ToolCall {
  readonly index: number;
  /** The call's start and end were emitted before the message was reopened. */
  readonly closed: boolean;
  /** Maps the call's arguments to keys of the state, where the graph announced it. */
  readonly predictions?: readonly Json[];
}

export interface OpenSubagent {
  readonly call_id: string;
  readonly name: string;
  readonly tool_call_id: string | null;
  readonly parent_id: string | null;
}

export interface Suspended {
  readonly call_id: string;
  readonly checkpoint_id: string | null;
}

/** The projection of a thread's log: everything a person sees of the thread. Plain JSON; never mutated. */
export interface ThreadProjection extends CallTree {
  readonly run: ProjectedRun | null;
  readonly state: JsonObject;
  readonly messages: readonly ProjectedMessage[];
  readonly openSteps: readonly OpenStep[];
  readonly openMessages: readonly OpenMessage[];
  readonly openSubagents: readonly OpenSubagent[];
  readonly interrupts: readonly Interrupt[];
  /** Subgraphs that wait for an interrupt response, and the last checkpoint of each. */
  readonly suspended: readonly Suspended[];
  /** The last checkpoint of each subgraph of the run. */
  readonly checkpoints: readonly Suspended[];
  /** Usage of the current or last run. */
  readonly usage: TokenUsage & {
    readonly model_calls: number;
    readonly cost_usd: number | null;
    /** `false` while the price of a call is not known; absent where nothing is metered. */
    readonly complete?: boolean;
  };
  readonly checkpoint_id: string | null;
}

export const PROJECTION_VERSION = 3;

export const emptyThreadProjection: ThreadProjection = {
  run: null,
  state: {},
  messages: [],
  openSteps: [],
  openMessages: [],
  openSubagents: [],
  interrupts: [],
  suspended: [],
  checkpoints: [],
  usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0, model_calls: 0, cost_usd: null },
  checkpoint_id: null,
  runs: [],
  calls: [],
};

/** The current messages, including text that still streams. */
export function currentMessages(projection: ThreadProjection): readonly ProjectedMessage[] {
  if (!projection.openMessages.some((open) => open.placed)) return projection.messages;
  const open = new Map(projection.openMessages.map((message) => [message.message_id, message]));
  return projection.messages.map((message) => {
    const streaming = open.get(message.id);
    return streaming ? closedMessage(message, streaming) : message;
  });
}

export function closedMessage(message: ProjectedMessage, streaming: OpenMessage): ProjectedMessage {
  const calls = streaming.tool_calls.map(({ id, name, args }) => ({ id, name, args }));
  return {
    ...message,
    content: contentOf(streaming),
    ...(streaming.reasoning !== "" && { reasoning: streaming.reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function contentOf({ text, media }: Pick<OpenMessage, "text" | "media">): Message["content"] {
  if (!media) return text;
  const parts: ContentPart[] = [];
  let from = 0;
  for (const { at, part } of media) {
    if (at > from) parts.push({ type: "text", text: text.slice(from, at) });
    parts.push(part);
    from = at;
  }
  if (from < text.length) parts.push({ type: "text", text: text.slice(from) });
  return shownContent(parts);
}

/** Converts a message's content back to that of an open message, which continues it. */
export function openContent(content: Message["content"]): Pick<OpenMessage, "text" | "media"> {
  if (typeof content === "string") return { text: content };
  let text = "";
  const media: PositionedPart[] = [];
  for (const part of content) {
    if (part.type === "text") text += String(part.text);
    else media.push({ at: text.length, part });
  }
  return { text, media };
}

/** The status of an idle thread: `interrupted` at an open interrupt, or at a breakpoint, which has none; else `success`. */
export function idleStatus({ interrupts, run }: ThreadProjection): "interrupted" | "success" {
  return interrupts.length > 0 || run?.status === "interrupted" ? "interrupted" : "success";
}
