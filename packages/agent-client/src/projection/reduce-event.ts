import type { Json, JsonObject } from "@throughline/ai-core";
import { applyPatch } from "@throughline/reading";
import { type AgentEvent, type EventFacts, factsOf } from "../wire/agent-event.js";
import {
  confirmMessage,
  insertConfirmed,
  insertMessage,
  readMessages,
  replaceMessage,
  replaceMessages,
  toMessageView,
} from "./message-list.js";
import {
  type CallView,
  messageById,
  type OpenMessage,
  type RunUsage,
  type StatePrediction,
  type ThreadMessage,
  type ThreadRun,
  type ThreadView,
  type ToolCallView,
} from "./thread-view.js";

/** The next view. `undefined`: the event does not fit the view, so the view is wrong and a snapshot is needed. */
export type Projected = ThreadView | undefined;

type EventOf<T extends AgentEvent["type"]> = Extract<AgentEvent, { type: T }>;

/** Reduces one event. Pure; shares all unchanged parts. A token costs O(open messages), never O(history). */
export function reduceEvent(view: ThreadView, event: AgentEvent): Projected {
  switch (event.type) {
    case "TEXT_MESSAGE_CONTENT":
    case "REASONING_MESSAGE_CONTENT":
      return addText(view, event.messageId, event.delta);
    case "TOOL_CALL_ARGS":
      return addArgs(view, event.toolCallId, event.delta);
    case "TEXT_MESSAGE_START":
      return startMessage(view, event.messageId, "assistant", event.subagentRunId);
    case "REASONING_MESSAGE_START":
      return startMessage(view, event.messageId, "reasoning", event.subagentRunId);
    case "TEXT_MESSAGE_END":
    case "REASONING_MESSAGE_END":
      return endText(view, event.messageId);
    case "TOOL_CALL_START":
      return startCall(view, event);
    case "TOOL_CALL_END":
      return endCall(view, event.toolCallId);
    case "TOOL_CALL_RESULT":
      return addResult(view, event);
    case "STATE_SNAPSHOT":
      return { ...view, state: event.snapshot };
    case "STATE_DELTA":
      return patchState(view, event);
    case "MESSAGES_SNAPSHOT":
      return replaceMessages({ ...view, open: [] }, event.messages);
    case "CUSTOM":
      if (event.name === "throughline.calls") return applyCalls(view, event.value);
      return event.name === "PredictState" ? applyPredictions(view, event.value) : view;
    case "STEP_STARTED":
      return { ...view, steps: [...view.steps.filter((step) => step !== event.stepName), event.stepName] };
    case "STEP_FINISHED":
      return { ...view, steps: view.steps.filter((step) => step !== event.stepName) };
    case "RUN_STARTED":
      return startRun(view, event);
    case "RUN_FINISHED":
    case "RUN_ERROR":
      return endRun(view, event);
    default:
      // Subagents, among others, are shown by calls. Unknown events are ignored.
      return view;
  }
}

/** Appends text. The hot path: it copies one short array and extends one text (a rope). */
function addText(view: ThreadView, id: string, delta: string): Projected {
  const index = view.open.findIndex((open) => open.message.id === id);
  const open = view.open[index];
  if (!open || typeof open.message.content !== "string") return undefined;
  const message = { ...open.message, content: open.message.content + delta };
  return withOpen(view, index, { ...open, message });
}

function addArgs(view: ThreadView, callId: string, delta: string): Projected {
  const index = view.open.findIndex((open) => open.openCalls.includes(callId));
  const open = view.open[index];
  if (!open) return undefined;
  const toolCalls = (open.message.toolCalls ?? []).map((call) =>
    call.id === callId ? { ...call, args: call.args + delta } : call,
  );
  return withOpen(view, index, { ...open, message: { ...open.message, toolCalls } });
}

function withOpen(view: ThreadView, index: number, open: OpenMessage): ThreadView {
  const next = view.open.slice();
  next[index] = open;
  return { ...view, open: next };
}

/** Opens a message. One that is open already, as after a reconnect, continues. */
function startMessage(
  view: ThreadView,
  id: string,
  role: "assistant" | "reasoning",
  subagentRunId: string | undefined,
): ThreadView {
  return changeOpen(view, { id, role, subagentRunId }, (open) => ({ ...open, isSpeaking: true }));
}

function startCall(view: ThreadView, event: EventOf<"TOOL_CALL_START">): ThreadView {
  const { toolCallId, toolCallName, parentMessageId = toolCallId, subagentRunId } = event;
  const added: ToolCallView = { id: toolCallId, name: toolCallName, args: "" };
  return changeOpen(view, { id: parentMessageId, role: "assistant", subagentRunId }, (open) => {
    const { message, openCalls } = open;
    const calls = message.toolCalls ?? [];
    const isKnown = calls.some((call) => call.id === toolCallId);
    return {
      ...open,
      message: isKnown ? message : { ...message, toolCalls: [...calls, added] },
      openCalls: openCalls.includes(toolCallId) ? openCalls : [...openCalls, toolCallId],
    };
  });
}

/** Changes a streaming message, which is opened first where it is not open. */
function changeOpen(
  view: ThreadView,
  begun: Pick<ThreadMessage, "id" | "role" | "subagentRunId">,
  change: (open: OpenMessage) => OpenMessage,
): ThreadView {
  const index = view.open.findIndex((open) => open.message.id === begun.id);
  const open = view.open[index];
  if (open) return withOpen(view, index, change(open));
  const known = messageById(view, begun.id);
  const message: ThreadMessage = known ?? { ...begun, content: "", runId: runOf(view) };
  const inserted = known ? view : insertConfirmed(view, message);
  return withOpen(inserted, view.open.length, change({ message, isSpeaking: false, openCalls: [] }));
}

function endText(view: ThreadView, id: string): ThreadView {
  const open = view.open.find(({ message }) => message.id === id);
  return open ? closeMessage(view, open, { ...open, isSpeaking: false }) : view;
}

function endCall(view: ThreadView, callId: string): ThreadView {
  const open = view.open.find(({ openCalls }) => openCalls.includes(callId));
  if (!open) return view;
  return closeMessage(view, open, { ...open, openCalls: open.openCalls.filter((id) => id !== callId) });
}

/** Moves a message back to the list once no part of it streams. */
function closeMessage(view: ThreadView, before: OpenMessage, after: OpenMessage): ThreadView {
  if (after.isSpeaking || after.openCalls.length > 0) {
    return { ...view, open: view.open.map((open) => (open === before ? after : open)) };
  }
  const open = view.open.filter((one) => one !== before);
  return { ...replaceMessage(view, after.message), open };
}

/** Inserts a tool result after the message with its call and that message's other results. */
function addResult(view: ThreadView, event: EventOf<"TOOL_CALL_RESULT">): ThreadView {
  if (messageById(view, event.messageId)) return view;
  const asks = ({ toolCalls }: ThreadMessage) => toolCalls?.some((call) => call.id === event.toolCallId);
  const streaming = view.open.find(({ message }) => asks(message))?.message.id;
  const owner = view.messages.findLastIndex((message) => message.id === streaming || asks(message));
  const message = toMessageView({ ...event, id: event.messageId }, "tool", runOf(view));
  if (owner === -1) return insertConfirmed(view, message);
  let at = owner + 1;
  while (view.messages[at]?.role === "tool") at += 1;
  return insertMessage(view, at, message);
}

function patchState(view: ThreadView, { delta }: EventOf<"STATE_DELTA">): Projected {
  const state = applyPatch(view.state, delta);
  return state && { ...view, state };
}

function startRun(view: ThreadView, event: EventOf<"RUN_STARTED">): ThreadView {
  const facts = factsOf(event);
  if (facts.poll) return applyPoll(view, facts);
  const run = running(event.runId, facts.runId, facts.attempt);
  const isSame = view.run?.serviceRunId === run.serviceRunId;
  const started: ThreadView = { ...view, run };
  const runId = runOf(started);
  const shown = readMessages(event.input?.messages ?? [], runId);
  return shown.reduce(confirmMessage, {
    ...started,
    // Open steps are sent again after it.
    steps: [],
    predictions: isSame ? view.predictions : [],
    // A run that the service created itself resolves no interrupt.
    interrupts: isSame || runId === undefined ? view.interrupts : [],
  });
}

/** The run that new messages belong to. The service creates runs of its own to publish a state that changed while none was open. */
function runOf({ run }: ThreadView): string | undefined {
  return run?.serviceRunId.startsWith("throughline:") ? undefined : run?.serviceRunId;
}

/** Applies a poll, which is no run: it only names the open run, or how the last one ended, and its end ends no run. */
function applyPoll(view: ThreadView, { activeRunId = null, lastRun }: EventFacts): ThreadView {
  const { run } = view;
  if (activeRunId !== null)
    return run?.serviceRunId === activeRunId ? view : { ...view, run: running(activeRunId) };
  if (lastRun?.runId === undefined) {
    return run?.status === "running" ? { ...view, run: { ...run, status: "success" } } : view;
  }
  const { runId, status } = lastRun;
  if (run?.serviceRunId === runId) return run.status === status ? view : { ...view, run: { ...run, status } };
  return { ...view, run: { ...running(runId), status } };
}

function running(runId: string, serviceRunId = runId, attempt = 0): ThreadRun {
  return { runId, serviceRunId, attempt, status: "running", error: null };
}

function endRun(view: ThreadView, event: EventOf<"RUN_FINISHED"> | EventOf<"RUN_ERROR">): ThreadView {
  if (event.type === "RUN_FINISHED" && event.runId !== view.run?.runId)
    return { ...view, interrupts: event.outcome?.interrupts ?? [] };
  const facts = factsOf(event);
  const closed = view.open.reduce<ThreadView>(
    (next, open) => closeMessage(next, open, { ...open, isSpeaking: false, openCalls: [] }),
    view,
  );
  return {
    ...closed,
    steps: [],
    predictions: [],
    run: view.run && { ...view.run, ...endOf(event, facts) },
    interrupts: (event.type === "RUN_FINISHED" ? event.outcome?.interrupts : facts.interrupts) ?? [],
    usage: facts.usage ? toUsage(facts.usage) : view.usage,
  };
}

function endOf(
  event: EventOf<"RUN_FINISHED"> | EventOf<"RUN_ERROR">,
  { status, lastRun, class: kind, node, ns, own }: EventFacts,
): Pick<ThreadRun, "status" | "error"> {
  if (event.type === "RUN_ERROR") {
    const { code = "run_failed", message } = event;
    return { status: "error", error: { code, message, class: kind, node, ns, own } };
  }
  // A later subscriber receives the current status of the thread, and with it how this run ended.
  if (lastRun) return { status: lastRun.status, error: lastRun.error ?? null };
  // A cancelled run reports the interrupts that it left open.
  const end = status === "cancelled" ? status : (event.outcome?.type ?? status);
  if (end === "interrupt" || end === "interrupted") return { status: "interrupted", error: null };
  return { status: end === "cancelled" ? end : "success", error: null };
}

function toUsage(usage: NonNullable<EventFacts["usage"]>): RunUsage {
  return {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    totalTokens: usage.total_tokens,
    modelCalls: usage.model_calls,
    costUsd: usage.cost_usd,
    isComplete: usage.complete !== false,
  };
}

type CallName = Pick<CallView, "runId" | "callId">;

interface CallsUpdate {
  readonly whole: boolean;
  readonly calls: readonly CallView[];
  readonly gone?: readonly CallName[];
}

/** Applies an update of the calls (section 5.9 of the protocol): all calls, or those that are new, changed or no longer stored. */
function applyCalls(view: ThreadView, value: Json): ThreadView {
  // Only the outline is checked, because the service alone writes under this name.
  const update = (value ?? {}) as unknown as Partial<CallsUpdate>;
  if (!Array.isArray(update.calls)) return view;
  const calls = update.whole ? [] : without(view.calls, update.gone ?? []);
  for (const call of update.calls) {
    const at = calls.findLastIndex((known) => known.callId === call.callId && known.runId === call.runId);
    if (at < 0) calls.push(call);
    else calls[at] = call;
  }
  return { ...view, calls };
}

/** Removes calls that the service no longer stores, each with all calls below it, which began later. */
function without(calls: readonly CallView[], gone: readonly CallName[]): CallView[] {
  if (gone.length === 0) return calls.slice();
  const keys = new Set(gone.map(keyOf));
  return calls.filter((call) => {
    const isGone =
      keys.has(keyOf(call)) ||
      (call.parentId !== null && keys.has(keyOf({ runId: call.runId, callId: call.parentId })));
    if (isGone) keys.add(keyOf(call));
    return !isGone;
  });
}

function keyOf({ runId, callId }: CallName): string {
  return `${runId} ${callId}`;
}

/** Applies predictions. `PredictState` comes right after the start of its call. */
function applyPredictions(view: ThreadView, value: Json): ThreadView {
  const predictions = (Array.isArray(value) ? value : []).flatMap((one) => predictionOf(view, one) ?? []);
  if (predictions.length === 0) return view;
  const keys = new Set(predictions.map(({ stateKey }) => stateKey));
  return {
    ...view,
    predictions: [...view.predictions.filter(({ stateKey }) => !keys.has(stateKey)), ...predictions],
  };
}

function predictionOf(view: ThreadView, value: Json): StatePrediction | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { state_key: stateKey, tool, tool_argument: argument }: JsonObject = value;
  if (typeof stateKey !== "string" || typeof tool !== "string") return undefined;
  for (const { message, openCalls } of view.open.toReversed()) {
    const call = message.toolCalls?.findLast(({ id, name }) => name === tool && openCalls.includes(id));
    if (!call) continue;
    return {
      stateKey,
      messageId: message.id,
      toolCallId: call.id,
      argument: typeof argument === "string" && argument !== "" ? argument : undefined,
      base: view.state[stateKey],
    };
  }
  return undefined;
}
