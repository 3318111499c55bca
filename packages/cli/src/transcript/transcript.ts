import {
  emptyView,
  type MessageView,
  messageAt,
  type ThreadView,
  type ToolCallView,
} from "@throughline/agent-client";
import type { Tone } from "../terminal/terminal.js";
import {
  addLine,
  appendText,
  closeAll,
  closeBlock,
  type Lines,
  NO_LINES,
  openBlock,
  type PathStep,
} from "./blocks.js";
import { pathOf, pathOfMessage } from "./call-path.js";
import type { Question } from "./interrupt.js";
import { oneLine } from "./text.js";

export interface TranscriptOptions {
  /** What people said, also by others. */
  readonly showsInput: boolean;
  /** How many messages of the past to show on arrival. */
  readonly history: number;
}

/** How the run that was shown last ended. */
interface Ending {
  readonly status: "success" | "interrupted" | "cancelled" | "error";
  readonly code?: string;
}

interface Told {
  readonly text: string;
  readonly runId: string | undefined;
}

/** A thread as one terminal has shown it. */
export interface Transcript {
  readonly options: TranscriptOptions;
  readonly lines: Lines;
  /** The thread as it stands. */
  readonly view: ThreadView;
  /** Messages and tool calls that were shown, by id. */
  readonly told: ReadonlyMap<string, Told>;
  /** What is being said, by message id; apart from `told`, so that a token does not cost what the history weighs. */
  readonly saying: ReadonlyMap<string, string>;
  readonly runId: string | undefined;
  readonly isOpen: boolean;
  /** A frame of the log came since the connection was made: until then the prelude tells how things stand. */
  readonly isLive: boolean;
  readonly questions: readonly Question[];
  readonly ending: Ending | undefined;
}

export function emptyTranscript(options: TranscriptOptions): Transcript {
  return {
    options,
    lines: NO_LINES,
    view: emptyView,
    told: new Map(),
    saying: new Map(),
    runId: undefined,
    isOpen: false,
    isLive: false,
    questions: [],
    ending: undefined,
  };
}

/** The graph paused where it asks nothing: at a breakpoint that it was compiled with. */
export function isPaused({ ending, isOpen, questions }: Transcript): boolean {
  return !isOpen && ending?.status === "interrupted" && questions.length === 0;
}

/** The ways a transcript grows. Each tells a thing once, however often it is told of it. */

export function tellLine(
  state: Transcript,
  path: readonly PathStep[],
  ...spans: readonly (readonly [Tone, string])[]
): Transcript {
  const shown = spans.filter(([, text]) => text !== "").map(([tone, text]) => ({ tone, text }));
  return { ...state, lines: addLine(state.lines, path, ...shown) };
}

export function remember(state: Transcript, id: string, text: string): Transcript {
  return { ...state, told: new Map(state.told).set(id, { text, runId: state.runId }) };
}

/** What was shown of a message so far, finished or not. */
export function textTold(state: Transcript, id: string): string | undefined {
  return state.saying.get(id) ?? state.told.get(id)?.text;
}

export function beginText(state: Transcript, id: string, path: readonly PathStep[]): Transcript {
  if (state.saying.has(id)) return state;
  const saying = new Map(state.saying).set(id, state.told.get(id)?.text ?? "");
  return { ...state, saying, lines: openBlock(state.lines, id, path) };
}

export function growText(state: Transcript, id: string, tone: Tone, delta: string): Transcript {
  const saying = new Map(state.saying).set(id, (state.saying.get(id) ?? "") + delta);
  return { ...state, saying, lines: appendText(state.lines, id, tone, delta) };
}

export function endText(state: Transcript, id: string, { isHeld = false } = {}): Transcript {
  const text = state.saying.get(id);
  if (text === undefined) return state;
  const saying = new Map(state.saying);
  saying.delete(id);
  const told = text === "" ? state : remember(state, id, text);
  return { ...told, saying, lines: closeBlock(state.lines, id, { isHeld }) };
}

/** A person's words. */
export function tellInput(state: Transcript, id: string, text: string): Transcript {
  if (state.told.has(id)) return state;
  const told = remember(state, id, text);
  return state.options.showsInput && text !== "" ? tellLine(told, [], ["strong", `› ${text}`]) : told;
}

/** Told when its arguments are whole. */
export function tellToolCall(state: Transcript, id: string): Transcript {
  const found = state.told.has(id) ? undefined : toolCallOf(state.view, id);
  if (!found) return state;
  const { message, call } = found;
  const path = pathOfMessage(state.view, message.id);
  const told = remember(state, id, call.args);
  return tellLine(told, path, ["call", `→ ${call.name}`], ["plain", ` ${oneLine(call.args, 300)}`]);
}

/** Looked for from the end: calls are told when they are new. */
function toolCallOf(
  view: ThreadView,
  id: string,
): { readonly message: MessageView; readonly call: ToolCallView } | undefined {
  for (let at = view.messages.length - 1; at >= 0; at -= 1) {
    const message = messageAt(view, at);
    const call = message?.toolCalls?.find((each) => each.id === id);
    if (message && call) return { message, call };
  }
  return undefined;
}

export function tellToolResult(
  state: Transcript,
  result: {
    readonly messageId: string;
    readonly toolCallId: string;
    readonly text: string;
    readonly failed: boolean;
  },
): Transcript {
  if (state.told.has(result.messageId)) return state;
  const name = toolCallOf(state.view, result.toolCallId)?.call.name ?? "tool";
  const told = remember(state, result.messageId, result.text);
  const shown = `← ${name}: ${oneLine(result.text, 500)}`;
  return tellLine(told, pathOf(state.view, result.toolCallId), [result.failed ? "bad" : "dim", shown]);
}

export function tellEnd(state: Transcript, ending: Ending): Transcript {
  const ended = [...state.saying.keys()].reduce((shown, id) => endText(shown, id), state);
  return { ...ended, lines: closeAll(ended.lines), isOpen: false, ending };
}
