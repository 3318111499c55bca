import { type AgentEvent, messageById, type RunErrorView, type ThreadView } from "@throughline/agent-client";
import { ERROR_CODES, isErrorCode } from "@throughline/ai-core";
import { pathOfMessage } from "./call-path.js";
import { tellCustom } from "./custom-event.js";
import { usageLine } from "./describe.js";
import type { FrameStep } from "./frame-steps.js";
import { addLine, breakLine, flush, settle } from "./lines.js";
import { textOf } from "./message-text.js";
import { type Question, showQuestion, toQuestion } from "./question.js";
import { readSnapshot } from "./snapshot.js";
import { printable, type Span } from "./span.js";
import { tellStateChanges } from "./state-changes.js";
import {
  beginText,
  endText,
  growText,
  tellEnd,
  tellInput,
  tellLine,
  tellToolCall,
  tellToolResult,
} from "./tell.js";
import type { Transcript } from "./transcript.js";

type Shown = readonly [state: Transcript, spans: readonly Span[]];

/** One step: what the terminal knows then, and what it prints for it. */
export function showNext(state: Transcript, { frame: { id, event }, view }: FrameStep): Shown {
  // A stream that begins tells first how things stand. That is not of the log, so it has no id.
  const isLive = state.isLive && !(event.type === "RUN_STARTED" && id === undefined);
  const next = reduce({ ...state, isLive, view }, state.view, event);
  return print({ ...next, isLive: next.isLive || id !== undefined });
}

/** The service did not take what was sent. This does not wait for a text that streams. */
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

/** Questions that are open, once more. */
export function showQuestions(state: Transcript): Shown {
  return print(state.questions.reduce(ask, state));
}

function print(state: Transcript): Shown {
  const [lines, spans] = flush(state.lines);
  const [settled, last] = state.isOpen ? [lines, []] : settle(lines);
  return [{ ...state, lines: settled }, [...spans, ...last]];
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
      return tellToolCall(state, event.toolCallId);
    case "TOOL_CALL_RESULT": {
      const { messageId, toolCallId, content } = event;
      const failed = messageById(state.view, messageId)?.failed ?? false;
      return tellToolResult(state, { messageId, toolCallId, text: textOf(content), failed });
    }
    case "STATE_SNAPSHOT":
    case "STATE_DELTA":
      return tellStateChanges(state, before.state);
    case "CUSTOM":
      return tellCustom(state, before, event.name, event.value);
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
  // A returning watcher is told again which run it is in.
  if (state.isOpen && state.runId === runId) return state;
  const started: Transcript = { ...state, runId, isOpen: true, questions: [], ending: undefined };
  const said = input?.messages ?? [];
  return said.reduce((shown, { id, content }) => tellInput(shown, id, textOf(content)), started);
}

function endRun(state: Transcript, before: ThreadView, isFailure: boolean): Transcript {
  const { run, usage, interrupts } = state.view;
  const questions = interrupts.map(toQuestion);
  const status = run === null || run.status === "running" ? "success" : run.status;
  const code = run?.error?.code;
  let ended: Transcript = {
    ...tellEnd(state, { status, ...(code !== undefined && { code }) }),
    questions,
  };
  if (isFailure && run?.error) {
    ended = tellLine(ended, [], ["bad", `✗ ${withOrigin(run.error)}`]);
    for (const line of stackOf(run.error)) ended = tellLine(ended, [], ["dim", line]);
  }
  // How an idle thread stands is no news of a run.
  else if (state.isLive) {
    if (status === "cancelled") ended = tellLine(ended, [], ["mark", "■ stopped"]);
    const line = usage && usage !== before.usage ? usageLine(usage) : undefined;
    if (line !== undefined) ended = tellLine(ended, [], ["dim", line]);
  }
  return questions.reduce(ask, ended);
}

/** What failed, and in which node; a graph's own error names the node already. */
function withOrigin({ message, node, class: kind }: RunErrorView): string {
  const where = node && !message.includes(`\`${node}\``) ? `node \`${node}\`` : "";
  // That a node failed is said by naming it.
  const facts = [where, kind && kind !== "node" ? `${kind} error` : ""].filter((fact) => fact !== "");
  return facts.length > 0 ? `${message} (${facts.join(", ")})` : message;
}

const SHOWN_FRAMES = 5;

/** Where it was thrown, of a service that tells this. The first lines repeat the message. */
function stackOf({ own }: RunErrorView): readonly string[] {
  const frames = own?.stack?.split("\n").filter((line) => /^\s*at /.test(line)) ?? [];
  return frames.slice(0, SHOWN_FRAMES).map((line) => `    ${line.trim()}`);
}

function ask(state: Transcript, question: Question): Transcript {
  return { ...state, lines: addLine(state.lines, [], ...showQuestion(question)) };
}
