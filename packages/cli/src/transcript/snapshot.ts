import type { ThreadMessage } from "@throughline/agent-client";
import type { Tone } from "../terminal/terminal.js";
import { textOf } from "./text.js";
import {
  beginText,
  endText,
  growText,
  printedText,
  printInput,
  printLine,
  printToolCall,
  printToolResult,
  remember,
  type Transcript,
} from "./transcript.js";

/** Reduces a snapshot of the whole conversation. Prints only what this terminal has not shown. */
export function readSnapshot(state: Transcript, messages: readonly ThreadMessage[]): Transcript {
  // An empty snapshot precedes a new order of the same messages, for clients that retain their own list.
  if (messages.length === 0) return state;
  const isArrival = !state.isLive && state.printed.size === 0 && state.streaming.size === 0;
  const hidden = isArrival ? Math.max(0, messages.length - state.options.history) : 0;
  const past = messages
    .slice(0, hidden)
    .reduce(rememberMessage, isArrival ? state : retract(state, messages));
  const earlier = hidden === 1 ? "… 1 earlier message" : `… ${hidden} earlier messages`;
  const begun = hidden > 0 && state.options.history > 0 ? printLine(past, [], ["dim", earlier]) : past;
  return messages.slice(hidden).reduce(printMessage, begun);
}

function printMessage(state: Transcript, message: ThreadMessage): Transcript {
  const text = textOf(message.content);
  switch (message.role) {
    case "user":
      return printInput(state, message.id, text);
    case "reasoning":
      return printText(state, message.id, "dim", text);
    case "tool": {
      const { id: messageId, toolCallId = "", failed = false } = message;
      return printToolResult(state, { messageId, toolCallId, text, failed });
    }
    case "assistant": {
      const withText = printText(state, message.id, "plain", text);
      // A call whose arguments still stream is printed when they are complete.
      return (message.toolCalls ?? []).reduce(
        (shown, { id, args }) => (isJson(args) ? printToolCall(shown, id) : shown),
        withText,
      );
    }
    default:
      return state;
  }
}

function printText(state: Transcript, id: string, tone: Tone, text: string): Transcript {
  const known = printedText(state, id) ?? "";
  if (text === "" || known === text) return state;
  const isMore = text.startsWith(known);
  // An open text is on its line already. A text that was replaced by another one is printed whole on the next line.
  if (state.streaming.has(id))
    return growText(state, id, tone, isMore ? text.slice(known.length) : `\n${text}`);
  const begun = beginText({ ...state, printed: without(state.printed, [id]) }, id, []);
  const grown = growText(begun, id, tone, isMore ? text.slice(known.length) : text);
  const whole = { ...grown, streaming: new Map(grown.streaming).set(id, text) };
  // The line stays open: on arrival it is not known whether the message continues.
  return endText(whole, id, { isHeld: true });
}

const MAX_QUOTED = 60;

/** Retracts printed texts that left the conversation: of a crashed attempt that never committed, or internal to a node. */
function retract(state: Transcript, messages: readonly ThreadMessage[]): Transcript {
  if (!state.isOpen) return state;
  const there = new Set(
    messages.flatMap(({ id, toolCalls }) => [id, ...(toolCalls ?? []).map((call) => call.id)]),
  );
  const finished = [...state.printed].filter(([, { runId }]) => runId === state.runId).map(([id]) => id);
  const shownIds = [...finished, ...state.streaming.keys()].filter((id) => !id.endsWith("/reasoning"));
  const gone = shownIds.filter((id) => !there.has(id));
  if (gone.length === 0) return state;
  const ended = gone.reduce((shown, id) => endText(shown, id), state);
  const next = { ...ended, printed: without(ended.printed, gone) };
  const isLast = shownIds.slice(-gone.length).every((id) => gone.includes(id));
  const what = isLast
    ? "What was said last was not kept."
    : `Not kept: ${gone.map((id) => quoteOf(printedText(state, id) ?? "")).join(" · ")}`;
  return printLine(next, [], ["mark", `↺ ${what}`]);
}

function quoteOf(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > MAX_QUOTED ? `${line.slice(0, MAX_QUOTED)}…` : line;
}

function rememberMessage(state: Transcript, message: ThreadMessage): Transcript {
  return (message.toolCalls ?? []).reduce(
    (shown, { id, args }) => remember(shown, id, args),
    remember(state, message.id, textOf(message.content)),
  );
}

function without<Value>(
  map: ReadonlyMap<string, Value>,
  keys: readonly string[],
): ReadonlyMap<string, Value> {
  return new Map([...map].filter(([key]) => !keys.includes(key)));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
