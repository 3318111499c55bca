import {
  type AgentEvent,
  type AgUiFrame,
  type CallView,
  emptyProjection,
  messageById,
  type Projection,
  project,
  type RunErrorView,
  type ThreadView,
} from "@throughline/agent-client";
import { ERROR_CODES, isErrorCode } from "@throughline/ai-core";
import { printable, type Span } from "../terminal/terminal.js";
import { addLine, breakLine, endHeldLine, flush } from "./blocks.js";
import { callsOfRun, pathOf, pathOfMessage } from "./call-path.js";
import { showQuestion, type TerminalInterrupt, toTerminalInterrupt } from "./interrupt.js";
import { readSnapshot } from "./snapshot.js";
import { describeProgress, describeValue, describeWarning, oneLine, textOf, usageLine } from "./text.js";
import {
  beginText,
  endText,
  growText,
  printEnd,
  printInput,
  printLine,
  printToolCall,
  printToolResult,
  remember,
  type Transcript,
} from "./transcript.js";

type Shown = readonly [state: Transcript, spans: readonly Span[]];

/** Reduces one frame: returns the next transcript and the spans to print for it. */
export function printFrame(state: Transcript, { frame: { id, event }, view }: FrameStep): Shown {
  // A stream begins with a prelude that describes the current state. The prelude is not from the log, so its frames have no id.
  const isLive = state.isLive && !(event.type === "RUN_STARTED" && id === undefined);
  const next = reduce({ ...state, isLive, view }, state.view, event);
  return printPending({ ...next, isLive: next.isLive || id !== undefined });
}

/** Shows that the service refused a command. It does not wait for a text that streams. */
export function showRefusal(state: Transcript, { code, message }: Refusal): Shown {
  const hint = isErrorCode(code) ? ` ${ERROR_CODES[code].hint}` : "";
  const [lines, spans] = breakLine(state.lines);
  return [
    { ...state, lines },
    [
      ...spans,
      { tone: "bad", text: printable(`✗ ${message}`) },
      { tone: "dim", text: hint },
      { tone: "plain", text: "\n" },
    ],
  ];
}

export interface Refusal {
  readonly code: string;
  readonly message: string;
}

/** Shows the open interrupts once more. */
export function showQuestions(state: Transcript): Shown {
  return printPending(state.questions.reduce(ask, state));
}

function printPending(state: Transcript): Shown {
  const [lines, spans] = flush(state.lines);
  const [ended, last] = state.isOpen ? [lines, []] : endHeldLine(lines);
  return [{ ...state, lines: ended }, [...spans, ...last]];
}

function reduce(state: Transcript, before: ThreadView, event: AgentEvent): Transcript {
  switch (event.type) {
    case "RUN_STARTED":
      return startRun(state, event);
    case "MESSAGES_SNAPSHOT":
      return readSnapshot(state, event.messages.length === 0 ? [] : state.view.messages);
    case "TEXT_MESSAGE_START":
      return beginText(state, event.messageId, pathOfMessage(state.view, event.messageId));
    case "REASONING_MESSAGE_START": {
      const path = pathOfMessage(state.view, event.messageId.replace(/\/reasoning$/, ""));
      return beginText(state, event.messageId, path);
    }
    case "TEXT_MESSAGE_CONTENT":
      return growText(state, event.messageId, "plain", event.delta);
    case "REASONING_MESSAGE_CONTENT":
      return growText(state, event.messageId, "dim", event.delta);
    case "TEXT_MESSAGE_END":
    case "REASONING_MESSAGE_END":
      return endText(state, event.messageId);
    case "TOOL_CALL_END":
      return printToolCall(state, event.toolCallId);
    case "TOOL_CALL_RESULT": {
      const { messageId, toolCallId, content } = event;
      const failed = messageById(state.view, messageId)?.failed ?? false;
      return printToolResult(state, { messageId, toolCallId, text: textOf(content), failed });
    }
    case "STATE_SNAPSHOT":
    case "STATE_DELTA":
      return printStateChanges(state, before.state);
    case "CUSTOM":
      return printCustom(state, before, event.name, event.value);
    case "RUN_FINISHED":
    case "RUN_ERROR":
      return endRun(state, before, event.type === "RUN_ERROR");
    default:
      return state;
  }
}

function startRun(
  state: Transcript,
  { runId, input }: Extract<AgentEvent, { type: "RUN_STARTED" }>,
): Transcript {
  // A reconnected subscriber receives the start of the current run again.
  if (state.isOpen && state.runId === runId) return state;
  const started: Transcript = { ...state, runId, isOpen: true, questions: [], ending: undefined };
  const messages = input?.messages ?? [];
  return messages.reduce((shown, { id, content }) => printInput(shown, id, textOf(content)), started);
}

function endRun(state: Transcript, before: ThreadView, isFailure: boolean): Transcript {
  const { run, usage, interrupts } = state.view;
  const questions = interrupts.map(toTerminalInterrupt);
  const status = run === null || run.status === "running" ? "success" : run.status;
  const code = run?.error?.code;
  let ended: Transcript = {
    ...printEnd(state, { status, ...(code !== undefined && { code }) }),
    questions,
  };
  if (isFailure && run?.error) {
    ended = printLine(ended, [], ["bad", `✗ ${withOrigin(run.error)}`]);
    for (const line of stackOf(run.error)) ended = printLine(ended, [], ["dim", line]);
  }
  // The status of an idle thread is no change of a run.
  else if (state.isLive) {
    if (status === "cancelled") ended = printLine(ended, [], ["mark", "■ stopped"]);
    const line = usage && usage !== before.usage ? usageLine(usage) : undefined;
    if (line !== undefined) ended = printLine(ended, [], ["dim", line]);
  }
  return questions.reduce(ask, ended);
}

/** The error message with the node that failed. A graph's own error names the node already. */
function withOrigin({ message, node, class: kind }: RunErrorView): string {
  const where = node && !message.includes(`\`${node}\``) ? `node \`${node}\`` : "";
  // The name of the node shows that a node failed.
  const facts = [where, kind && kind !== "node" ? `${kind} error` : ""].filter((fact) => fact !== "");
  return facts.length > 0 ? `${message} (${facts.join(", ")})` : message;
}

const SHOWN_FRAMES = 5;

/** The stack of an error, where the service sends it. Its first lines repeat the message. */
function stackOf({ own }: RunErrorView): readonly string[] {
  const frames = own?.stack?.split("\n").filter((line) => /^\s*at /.test(line)) ?? [];
  return frames.slice(0, SHOWN_FRAMES).map((line) => `    ${line.trim()}`);
}

function ask(state: Transcript, question: TerminalInterrupt): Transcript {
  return { ...state, lines: addLine(state.lines, [], ...showQuestion(question)) };
}

/** A frame, and the view of the thread after it. */
interface FrameStep {
  readonly frame: AgUiFrame;
  readonly view: ThreadView;
}

/**
 * Projects frames one at a time, because a terminal prints events in order and can't draw the last view alone. Drops duplicate
 * frames, and all frames after one that does not fit: agent-client then requests the whole thread again.
 */
export function createFrameSteps(): (frames: readonly AgUiFrame[]) => readonly FrameStep[] {
  let projection: Projection = emptyProjection;

  return (frames) => {
    const steps: FrameStep[] = [];
    for (const frame of frames) {
      if (!projection.authority)
        [projection] = project(projection, { kind: "claim", source: "detail-connect" });
      const { authority } = projection;
      if (!authority) break;
      const [next, effects] = project(projection, { kind: "frames", authority, frames: [frame] });
      projection = next;
      if (effects.some(({ kind }) => kind === "misfit")) break;
      if (effects.some(({ kind }) => kind === "duplicate")) continue;
      steps.push({ frame, view: next.view });
    }
    return steps;
  };
}

/** Prints a custom event. `before`: the view of the thread before the event. */
function printCustom(state: Transcript, before: ThreadView, name: string, value: unknown): Transcript {
  switch (name) {
    case "throughline.calls": {
      const run = callsOfRun(state.view).findLast(({ kind }) => kind === "run");
      if (run?.status !== "running") return state;
      if (!state.isLive) return printEarlierCalls(state, run);
      return printRun(
        state,
        run,
        callsOfRun(before).findLast(({ kind }) => kind === "run"),
      );
    }
    case "throughline.tool_update": {
      const { toolCallId, text } = describeProgress(value);
      return printLine(state, pathOf(state.view, toolCallId), ["dim", `• ${text}`]);
    }
    case "throughline.warning":
      return printLine(state, [], ["dim", `! ${describeWarning(value)}`]);
    default: {
      // The interrupt comes with the run's end.
      if (name === "on_interrupt" || name.startsWith("throughline.")) return state;
      const text = `• ${name}: ${oneLine(describeValue(value), 200)}`;
      return printLine(state, pathOfMessage(state.view, undefined), ["dim", text]);
    }
  }
}

/** Prints, for a subscriber that joins a long run, how many of its calls are not shown any more. */
function printEarlierCalls(state: Transcript, { callId, earlier = 0 }: CallView): Transcript {
  const key = `${callId}/earlier`;
  if (earlier === 0 || state.printed.has(key)) return state;
  const text = earlier === 1 ? "… 1 earlier call" : `… ${earlier} earlier calls`;
  return printLine(remember(state, key, text), [], ["dim", text]);
}

function printRun(state: Transcript, run: CallView, before: CallView | undefined): Transcript {
  if (before) {
    const isRecovered = run.attempt > before.attempt;
    return isRecovered ? printLine(state, [], ["mark", "↻ Its server was lost; the run goes on."]) : state;
  }
  const { kind, id } = run.startedBy ?? { kind: "client" };
  if (kind === "client") return state;
  return printLine(state, [], ["mark", `◆ started by ${kind}${id === undefined ? "" : ` ${id}`}`]);
}

const MAX_SHOWN = 200;

/** Prints one line per value of the graph's state that an event changed: a list whole, of an object its changed entries. */
function printStateChanges(state: Transcript, before: unknown): Transcript {
  // A connection begins with the state as it is, which is no change.
  if (!state.isLive || !state.isOpen) return state;
  const [was, is] = [entriesOf(before), entriesOf(state.view.state)];
  return changesOf(was, is)
    .filter(([key, value]) => was.has(key) || !isEmpty(value))
    .flatMap(([key, value]): readonly (readonly [string, unknown])[] => {
      const [inner, outer] = [entriesOf(value), entriesOf(was.get(key))];
      return inner.size === 0
        ? [[key, value]]
        : changesOf(outer, inner).map(([name, each]) => [`${key} ${name}`, each]);
    })
    .reduce((shown, [name, value]) => printLine(shown, [], ["dim", lineOf(name, value)]), state);
}

type Entries = ReadonlyMap<string, unknown>;

/** The entries of an object; a list or a scalar has none. Messages are left out: their own events show them. */
function entriesOf(value: unknown): Entries {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return new Map();
  return new Map(Object.entries(value).filter(([key]) => key !== "messages"));
}

function changesOf(was: Entries, is: Entries): readonly (readonly [string, unknown])[] {
  const removed = [...was.keys()].filter((key) => !is.has(key)).map((key) => [key, undefined] as const);
  const changed = [...is].filter(
    ([key, value]) => was.get(key) !== value && JSON.stringify(was.get(key)) !== JSON.stringify(value),
  );
  return [...changed, ...removed];
}

/** Whether a value is one that a channel begins with. */
function isEmpty(value: unknown): boolean {
  return value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);
}

function lineOf(name: string, value: unknown): string {
  return `∆ ${name}: ${value === undefined ? "removed" : oneLine(describeValue(value), MAX_SHOWN)}`;
}
