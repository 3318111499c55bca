import type { MessageView } from "@throughline/agent-client";
import type { Tone } from "../terminal/terminal.js";
import { textOf } from "./text.js";
import {
  beginText,
  endText,
  growText,
  remember,
  type Transcript,
  tellInput,
  tellLine,
  tellToolCall,
  tellToolResult,
  textTold,
} from "./transcript.js";

/** A conversation told whole: only what this terminal has not shown is shown. */
export function readSnapshot(state: Transcript, messages: readonly MessageView[]): Transcript {
  // Sent before another order of the same messages, for clients that keep their own.
  if (messages.length === 0) return state;
  const isArrival = !state.isLive && state.told.size === 0 && state.saying.size === 0;
  const hidden = isArrival ? Math.max(0, messages.length - state.options.history) : 0;
  const past = messages
    .slice(0, hidden)
    .reduce(rememberMessage, isArrival ? state : takeBack(state, messages));
  const earlier = hidden === 1 ? "… 1 earlier message" : `… ${hidden} earlier messages`;
  const begun = hidden > 0 && state.options.history > 0 ? tellLine(past, [], ["dim", earlier]) : past;
  return messages.slice(hidden).reduce(tellMessage, begun);
}

function tellMessage(state: Transcript, message: MessageView): Transcript {
  const text = textOf(message.content);
  switch (message.role) {
    case "user":
      return tellInput(state, message.id, text);
    case "reasoning":
      return tellText(state, message.id, "dim", text);
    case "tool": {
      const { id: messageId, toolCallId = "", failed = false } = message;
      return tellToolResult(state, { messageId, toolCallId, text, failed });
    }
    case "assistant": {
      const said = tellText(state, message.id, "plain", text);
      // Arguments that still stream are told when they are whole.
      return (message.toolCalls ?? []).reduce(
        (shown, { id, args }) => (isJson(args) ? tellToolCall(shown, id) : shown),
        said,
      );
    }
    default:
      return state;
  }
}

function tellText(state: Transcript, id: string, tone: Tone, text: string): Transcript {
  const known = textTold(state, id) ?? "";
  if (text === "" || known === text) return state;
  const isMore = text.startsWith(known);
  // What is open is on its line already; a text that became another one is told whole, below.
  if (state.saying.has(id)) return growText(state, id, tone, isMore ? text.slice(known.length) : `\n${text}`);
  const begun = beginText({ ...state, told: without(state.told, [id]) }, id, []);
  const grown = growText(begun, id, tone, isMore ? text.slice(known.length) : text);
  const whole = { ...grown, saying: new Map(grown.saying).set(id, text) };
  // The line is left open: on arrival it is not known whether the message goes on.
  return endText(whole, id, { isHeld: true });
}

const MAX_QUOTED = 60;

/** What a crashed attempt said and never committed, or what a node said to itself, is not in the conversation any more. */
function takeBack(state: Transcript, messages: readonly MessageView[]): Transcript {
  if (!state.isOpen) return state;
  const there = new Set(
    messages.flatMap(({ id, toolCalls }) => [id, ...(toolCalls ?? []).map((call) => call.id)]),
  );
  const finished = [...state.told].filter(([, { runId }]) => runId === state.runId).map(([id]) => id);
  const said = [...finished, ...state.saying.keys()].filter((id) => !id.endsWith("/reasoning"));
  const gone = said.filter((id) => !there.has(id));
  if (gone.length === 0) return state;
  const ended = gone.reduce((shown, id) => endText(shown, id), state);
  const told = { ...ended, told: without(ended.told, gone) };
  const isLast = said.slice(-gone.length).every((id) => gone.includes(id));
  const what = isLast
    ? "What was said last was not kept."
    : `Not kept: ${gone.map((id) => quoteOf(textTold(state, id) ?? "")).join(" · ")}`;
  return tellLine(told, [], ["mark", `↺ ${what}`]);
}

function quoteOf(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > MAX_QUOTED ? `${line.slice(0, MAX_QUOTED)}…` : line;
}

function rememberMessage(state: Transcript, message: MessageView): Transcript {
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
