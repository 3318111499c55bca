import { pathOfMessage } from "./call-path.js";
import { tellCustom } from "./custom-event.js";
import { usageLine } from "./describe.js";
import { type Frame, readInterrupts, textOf } from "./frame.js";
import { addLine, flush, settle } from "./lines.js";
import { type Question, showQuestion, toQuestion } from "./question.js";
import { readSnapshot } from "./snapshot.js";
import type { Span } from "./span.js";
import {
  beginText,
  endText,
  growText,
  noteToolCall,
  tellEnd,
  tellInput,
  tellLine,
  tellToolCall,
  tellToolResult,
} from "./tell.js";
import type { Transcript } from "./transcript.js";

export type TranscriptInput =
  | { readonly kind: "connected" }
  | { readonly kind: "frame"; readonly id: string | undefined; readonly frame: Frame };

/** One step: what the terminal knows then, and what it prints for it. */
export function showNext(
  state: Transcript,
  input: TranscriptInput,
): readonly [state: Transcript, spans: readonly Span[]] {
  if (input.kind === "connected") return [{ ...state, isLive: false }, []];
  const next = reduce(state, input.frame);
  const [lines, spans] = flush(next.lines);
  const [settled, last] = next.isOpen ? [lines, []] : settle(lines);
  return [{ ...next, lines: settled, isLive: next.isLive || input.id !== undefined }, [...spans, ...last]];
}

function reduce(state: Transcript, frame: Frame): Transcript {
  switch (frame.type) {
    case "RUN_STARTED":
      return startRun(state, frame);
    case "MESSAGES_SNAPSHOT":
      return readSnapshot(state, frame.messages);
    case "TEXT_MESSAGE_START":
      return beginText(state, frame.messageId, pathOfMessage(state.calls, frame.messageId));
    case "REASONING_MESSAGE_START": {
      const path = pathOfMessage(state.calls, frame.messageId.replace(/\/reasoning$/, ""));
      return beginText(state, frame.messageId, path);
    }
    case "TEXT_MESSAGE_CONTENT":
      return growText(state, frame.messageId, "plain", frame.delta);
    case "REASONING_MESSAGE_CONTENT":
      return growText(state, frame.messageId, "dim", frame.delta);
    case "TEXT_MESSAGE_END":
    case "REASONING_MESSAGE_END":
      return endText(state, frame.messageId);
    case "TOOL_CALL_START": {
      const { toolCallId, toolCallName: name, parentMessageId } = frame;
      if (state.toolCalls.has(toolCallId)) return state;
      return noteToolCall(state, toolCallId, { name, args: "", messageId: parentMessageId ?? undefined });
    }
    case "TOOL_CALL_ARGS": {
      const call = state.toolCalls.get(frame.toolCallId);
      if (!call) return state;
      return noteToolCall(state, frame.toolCallId, { ...call, args: call.args + frame.delta });
    }
    case "TOOL_CALL_END":
      return tellToolCall(state, frame.toolCallId);
    case "TOOL_CALL_RESULT": {
      const { messageId, toolCallId, content, metadata } = frame;
      const failed = metadata?.throughline?.status === "error";
      return tellToolResult(state, { messageId, toolCallId, text: textOf(content), failed });
    }
    case "CUSTOM":
      return tellCustom(state, frame.name, frame.value);
    case "RUN_FINISHED":
      return finishRun(state, frame);
    case "RUN_ERROR": {
      const { code, message, metadata } = frame;
      const questions = readInterrupts(metadata?.throughline?.interrupts).map(toQuestion);
      const ended = { ...tellEnd(state, { status: "error", ...(code && { code }) }), questions };
      const { hint, node } = metadata?.throughline ?? {};
      const words = ["bad", `✗ ${withNode(message, node)}`] as const;
      return questions.reduce(ask, tellLine(ended, [], words, ["dim", hint ? ` ${hint}` : ""]));
    }
  }
}

/** A graph's own error names the node already. */
function withNode(message: string, node: string | null | undefined): string {
  return node && !message.includes(`\`${node}\``) ? `${message} (node \`${node}\`)` : message;
}

function startRun(state: Transcript, { runId, input }: Extract<Frame, { type: "RUN_STARTED" }>): Transcript {
  // A returning watcher is told again which run it is in.
  if (state.isOpen && state.runId === runId) return state;
  const started: Transcript = {
    ...state,
    calls: new Map(),
    runId,
    isOpen: true,
    questions: [],
    ending: undefined,
  };
  const said = input?.messages ?? [];
  return said.reduce((shown, { id, content }) => tellInput(shown, id, textOf(content)), started);
}

function finishRun(state: Transcript, frame: Extract<Frame, { type: "RUN_FINISHED" }>): Transcript {
  const { outcome, metadata } = frame;
  const questions = (outcome?.interrupts ?? []).map(toQuestion);
  const isCancelled = outcome?.type === "cancelled" || metadata?.throughline?.status === "cancelled";
  const status = questions.length > 0 ? "interrupted" : isCancelled ? "cancelled" : "success";
  let ended: Transcript = { ...tellEnd(state, { status }), questions };
  // How an idle thread stands is no news of a run.
  if (state.isLive) {
    if (isCancelled) ended = tellLine(ended, [], ["mark", "■ stopped"]);
    const usage = usageLine(metadata?.throughline?.usage);
    if (usage !== undefined) ended = tellLine(ended, [], ["dim", usage]);
  }
  return questions.reduce(ask, ended);
}

function ask(state: Transcript, question: Question): Transcript {
  return { ...state, lines: addLine(state.lines, [], ...showQuestion(question)) };
}
