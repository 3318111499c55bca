import {
  emptyThreadView,
  messageAt,
  type ThreadMessage,
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
import type { TerminalInterrupt } from "./interrupt.js";
import { oneLine } from "./text.js";

export interface TranscriptOptions {
  /** Shows the messages of people, also those of other people. */
  readonly showsInput: boolean;
  /** The number of past messages to show on arrival. */
  readonly history: number;
}

/** The end of the run that was shown last. */
interface Ending {
  readonly status: "success" | "interrupted" | "cancelled" | "error";
  readonly code?: string;
}

/** A message or tool call that is on the screen. */
interface Printed {
  readonly text: string;
  readonly runId: string | undefined;
}

/** A thread as one terminal has shown it. */
export interface Transcript {
  readonly options: TranscriptOptions;
  readonly lines: Lines;
  /** The current view of the thread. */
  readonly view: ThreadView;
  /** Messages and tool calls that were shown, by id. */
  readonly printed: ReadonlyMap<string, Printed>;
  /** Texts that still stream, by message id. Separate from `printed`, so that a token does not cost a copy of the history. */
  readonly streaming: ReadonlyMap<string, string>;
  readonly runId: string | undefined;
  readonly isOpen: boolean;
  /** A frame of the log arrived on this connection. Until then frames belong to the prelude, which describes the current state. */
  readonly isLive: boolean;
  readonly questions: readonly TerminalInterrupt[];
  readonly ending: Ending | undefined;
}

export function emptyTranscript(options: TranscriptOptions): Transcript {
  return {
    options,
    lines: NO_LINES,
    view: emptyThreadView,
    printed: new Map(),
    streaming: new Map(),
    runId: undefined,
    isOpen: false,
    isLive: false,
    questions: [],
    ending: undefined,
  };
}

/** Whether the graph paused without an interrupt request: at a breakpoint that it was compiled with. */
export function isPaused({ ending, isOpen, questions }: Transcript): boolean {
  return !isOpen && ending?.status === "interrupted" && questions.length === 0;
}

// The steps by which a transcript grows. Each prints an item once, however often its event arrives.

export function printLine(
  state: Transcript,
  path: readonly PathStep[],
  ...spans: readonly (readonly [Tone, string])[]
): Transcript {
  const shown = spans.filter(([, text]) => text !== "").map(([tone, text]) => ({ tone, text }));
  return { ...state, lines: addLine(state.lines, path, ...shown) };
}

/** Marks a message or tool call as printed, without printing it. */
export function remember(state: Transcript, id: string, text: string): Transcript {
  return { ...state, printed: new Map(state.printed).set(id, { text, runId: state.runId }) };
}

/** The text of a message that is on the screen so far, finished or not. */
export function printedText(state: Transcript, id: string): string | undefined {
  return state.streaming.get(id) ?? state.printed.get(id)?.text;
}

export function beginText(state: Transcript, id: string, path: readonly PathStep[]): Transcript {
  if (state.streaming.has(id)) return state;
  const streaming = new Map(state.streaming).set(id, state.printed.get(id)?.text ?? "");
  return { ...state, streaming, lines: openBlock(state.lines, id, path) };
}

export function growText(state: Transcript, id: string, tone: Tone, delta: string): Transcript {
  const streaming = new Map(state.streaming).set(id, (state.streaming.get(id) ?? "") + delta);
  return { ...state, streaming, lines: appendText(state.lines, id, tone, delta) };
}

export function endText(state: Transcript, id: string, { isHeld = false } = {}): Transcript {
  const text = state.streaming.get(id);
  if (text === undefined) return state;
  const streaming = new Map(state.streaming);
  streaming.delete(id);
  const ended = text === "" ? state : remember(state, id, text);
  return { ...ended, streaming, lines: closeBlock(state.lines, id, { isHeld }) };
}

/** Prints the message of a person. */
export function printInput(state: Transcript, id: string, text: string): Transcript {
  if (state.printed.has(id)) return state;
  const next = remember(state, id, text);
  return state.options.showsInput && text !== "" ? printLine(next, [], ["strong", `› ${text}`]) : next;
}

/** Prints a tool call. Called when its arguments are complete. */
export function printToolCall(state: Transcript, id: string): Transcript {
  const found = state.printed.has(id) ? undefined : toolCallOf(state.view, id);
  if (!found) return state;
  const { message, call } = found;
  const path = pathOfMessage(state.view, message.id);
  const next = remember(state, id, call.args);
  return printLine(next, path, ["call", `→ ${call.name}`], ["plain", ` ${oneLine(call.args, 300)}`]);
}

/** Finds a tool call. Searches from the end, because calls are printed when they are new. */
function toolCallOf(
  view: ThreadView,
  id: string,
): { readonly message: ThreadMessage; readonly call: ToolCallView } | undefined {
  for (let at = view.messages.length - 1; at >= 0; at -= 1) {
    const message = messageAt(view, at);
    const call = message?.toolCalls?.find((each) => each.id === id);
    if (message && call) return { message, call };
  }
  return undefined;
}

export function printToolResult(
  state: Transcript,
  result: {
    readonly messageId: string;
    readonly toolCallId: string;
    readonly text: string;
    readonly failed: boolean;
  },
): Transcript {
  if (state.printed.has(result.messageId)) return state;
  const name = toolCallOf(state.view, result.toolCallId)?.call.name ?? "tool";
  const next = remember(state, result.messageId, result.text);
  const shown = `← ${name}: ${oneLine(result.text, 500)}`;
  return printLine(next, pathOf(state.view, result.toolCallId), [result.failed ? "bad" : "dim", shown]);
}

export function printEnd(state: Transcript, ending: Ending): Transcript {
  const ended = [...state.streaming.keys()].reduce((shown, id) => endText(shown, id), state);
  return { ...ended, lines: closeAll(ended.lines), isOpen: false, ending };
}
