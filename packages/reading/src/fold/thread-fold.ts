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
import type { KnownCalls } from "./fold-call.js";

/** A message of the thread, and, where it is not part of the conversation itself, the subagent it belongs to. */
export interface FoldMessage extends Message {
  readonly subagent_id?: string;
  /** Said in a subagent that started over when its run was recovered: AG-UI allows a subagent one life in a run. */
  readonly unshown?: true;
  /** A model thought and then said nothing: people saw the thought, but it is no message of the thread. */
  readonly bare?: true;
  /** The run that brought it. Unknown for what passed unwatched. */
  readonly run_id?: string;
}

/** Part of the conversation itself, which is what a checkpoint's messages are. */
export function isConversation(message: FoldMessage): boolean {
  return message.subagent_id === undefined && !message.bare;
}

export interface FoldRun {
  readonly run_id: string;
  readonly client_run_id: string | null;
  readonly attempt: number;
  readonly open: boolean;
  readonly status: RunStatus | null;
  /** Of a run that failed. */
  readonly error?: PayloadOf<"run_end">["error"];
  /** It stands for runs that passed unwatched, and says of none what it brought. */
  readonly coarse?: true;
}

/** What a message of this subagent that appears now says of it. */
export function saidBy(
  subagentId: string | null | undefined,
  { run }: ThreadFold,
): Pick<FoldMessage, "subagent_id" | "unshown"> {
  if (subagentId === null || subagentId === undefined) return {};
  return { subagent_id: subagentId, ...(run && run.attempt > 0 && { unshown: true as const }) };
}

/** What a message that appears now says of its run. */
export function saidIn({ run }: ThreadFold): Pick<FoldMessage, "run_id"> {
  return run?.open && !run.coarse ? { run_id: run.run_id } : {};
}

export interface OpenStep {
  readonly call_id: string;
  /** Unique among open steps, so that twins running side by side can be told apart. */
  readonly name: string;
  readonly base: string;
  readonly subagent_id: string | null;
}

/** A model call in progress. Its text lives here, not in `messages`, so that a token costs O(1). */
export interface OpenMessage {
  readonly call_id: string;
  readonly message_id: string;
  readonly subagent_id: string | null;
  /** A node returned it whole: no model was called. */
  readonly synthetic: boolean;
  /** Its place in `messages` is taken: text or a tool call has come. */
  readonly placed: boolean;
  readonly text: string;
  readonly text_open: boolean;
  /** Media it shows, each behind as many characters of the text as `at` says. */
  readonly media?: readonly PlacedPart[];
  readonly reasoning: string;
  readonly reasoning_open: boolean;
  readonly tool_calls: readonly OpenToolCall[];
}

export interface PlacedPart {
  readonly at: number;
  readonly part: ContentPart;
}

export interface OpenToolCall extends ToolCall {
  readonly index: number;
  /** Told before this call was reopened: its start and end have been shown. */
  readonly closed: boolean;
  /** Which of its arguments will be which keys of the state, where the graph said so. */
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

/** Everything a person sees of a thread, as the log's entries add up to it. Plain JSON; never mutated. */
export interface ThreadFold extends KnownCalls {
  readonly run: FoldRun | null;
  readonly state: JsonObject;
  readonly messages: readonly FoldMessage[];
  readonly openSteps: readonly OpenStep[];
  readonly openMessages: readonly OpenMessage[];
  readonly openSubagents: readonly OpenSubagent[];
  readonly interrupts: readonly Interrupt[];
  /** Subgraphs that wait for an answer, and the last checkpoint of each. */
  readonly suspended: readonly Suspended[];
  /** The last checkpoint of each subgraph of the run. */
  readonly checkpoints: readonly Suspended[];
  /** Of the current or last run. */
  readonly usage: TokenUsage & {
    readonly model_calls: number;
    readonly cost_usd: number | null;
    /** `false` while the price of a call is not known; absent where nothing is metered. */
    readonly complete?: boolean;
  };
  readonly checkpoint_id: string | null;
}

export const FOLD_VERSION = 3;

export const emptyFold: ThreadFold = {
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

/** The messages as they stand, text still streaming included. */
export function currentMessages(fold: ThreadFold): readonly FoldMessage[] {
  if (!fold.openMessages.some((open) => open.placed)) return fold.messages;
  const open = new Map(fold.openMessages.map((message) => [message.message_id, message]));
  return fold.messages.map((message) => {
    const streaming = open.get(message.id);
    return streaming ? closedMessage(message, streaming) : message;
  });
}

export function closedMessage(message: FoldMessage, streaming: OpenMessage): FoldMessage {
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

/** The other way round: a message that was told goes on. */
export function openContent(content: Message["content"]): Pick<OpenMessage, "text" | "media"> {
  if (typeof content === "string") return { text: content };
  let text = "";
  const media: PlacedPart[] = [];
  for (const part of content) {
    if (part.type === "text") text += String(part.text);
    else media.push({ at: text.length, part });
  }
  return { text, media };
}

/** How a thread stands where nothing runs: it waits for an answer, or at a breakpoint, where a graph asks nothing; or it is done. */
export function standingStatus({ interrupts, run }: ThreadFold): "interrupted" | "success" {
  return interrupts.length > 0 || run?.status === "interrupted" ? "interrupted" : "success";
}
