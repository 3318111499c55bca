import {
  addUsage,
  type Envelope,
  type EnvelopeOf,
  type LogEntry,
  NO_USAGE,
  type PayloadOf,
} from "@throughline/ai-core";
import { applyPatch } from "../delta/apply-patch.js";
import { changeCalls } from "./calls.js";
import { keepBeside } from "./keep-beside.js";
import { placeOfResult, withChanged, withdrawn, withTruth } from "./message-list.js";
import { keepPredictions, PREDICT_STATE } from "./predictions.js";
import { afterSubgraph, stillSuspended, withCheckpoint, without } from "./suspended.js";
import {
  closedMessage,
  type FoldMessage,
  type FoldRun,
  type OpenMessage,
  type OpenStep,
  type OpenSubagent,
  type OpenToolCall,
  openContent,
  saidBy,
  saidIn,
  type ThreadFold,
} from "./thread-fold.js";

/** One entry more. Pure; shares all that did not change. A token costs O(open items), never O(history). */
export function applyEntry(fold: ThreadFold, entry: LogEntry): ThreadFold {
  return applyEnvelope(fold, entry.envelope);
}

export function isKnownMessage(fold: ThreadFold, messageId: string): boolean {
  return fold.messages.some((message) => message.id === messageId);
}

export function applyEnvelope(fold: ThreadFold, envelope: Envelope): ThreadFold {
  const next = applyContent(fold, envelope);
  const change = changeCalls(fold, envelope);
  if (!change) return next;
  const { runs, calls, earlier_runs } = change;
  return { ...next, runs, calls, ...(earlier_runs !== undefined && { earlier_runs }) };
}

function applyContent(fold: ThreadFold, envelope: Envelope): ThreadFold {
  switch (envelope.type) {
    case "run_start":
      return startRun(fold, envelope);
    case "run_end": {
      // What a run that failed or was stopped did not answer is still asked.
      const interrupts = envelope.payload.status === "success" ? [] : fold.interrupts;
      return {
        ...closeAll(fold),
        run: fold.run && endedRun(fold.run, envelope.payload),
        interrupts,
        suspended: stillSuspended(fold.suspended, interrupts),
        checkpoints: [],
      };
    }
    case "step_start":
      return startStep(fold, envelope);
    case "step_end":
      return { ...fold, openSteps: fold.openSteps.filter((step) => step.call_id !== envelope.call_id) };
    case "llm_start":
      return startMessage(fold, envelope);
    case "llm_token":
      return addToken(fold, envelope);
    case "llm_end":
      return endMessage(fold, envelope);
    case "tool_start":
      return startSubagent(fold, envelope);
    case "tool_end":
      return endTool(fold, envelope);
    case "state_snapshot":
      return takeSnapshot(fold, envelope);
    case "state_delta":
      return { ...fold, state: applyPatch(fold.state, envelope.payload.ops) ?? fold.state };
    case "interrupt":
      return {
        ...fold,
        interrupts: [...fold.interrupts.filter(isNot(envelope.payload.interrupt_id)), envelope.payload],
      };
    case "usage":
      return { ...fold, usage: runUsage(envelope.payload) };
    case "retract":
      return retract(fold, envelope);
    case "subgraph_checkpoint":
      return withCheckpoint(fold, envelope.call_id, envelope.payload.checkpoint_id);
    case "custom": {
      const { name, value } = envelope.payload;
      return name === PREDICT_STATE ? keepPredictions(fold, value) : fold;
    }
    case "tool_update":
    case "subgraph_resume":
    case "warning":
    case "error":
      return fold;
  }
}

const isNot = (id: string) => (interrupt: { readonly interrupt_id: string }) => interrupt.interrupt_id !== id;

function endedRun(run: FoldRun, { status, error }: PayloadOf<"run_end">): FoldRun {
  return { ...run, open: false, status, ...(error && { error }) };
}

function startRun(fold: ThreadFold, { run_id, attempt, payload }: EnvelopeOf<"run_start">): ThreadFold {
  const closed = closeAll(fold);
  const resumed = fold.run?.run_id === run_id;
  const run: FoldRun = {
    run_id,
    client_run_id: payload.client_run_id ?? null,
    attempt,
    open: true,
    status: null,
    ...(payload.coarse && { coarse: true }),
  };
  const known = new Set(fold.messages.map((message) => message.id));
  const kept = resumed ? closed.messages : keepBeside(closed.messages);
  const said = payload.input.messages.filter((message) => !known.has(message.id));
  const begun = { ...closed, run };
  const answers = payload.answers.length > 0;
  return {
    ...begun,
    messages: [...kept, ...said.map((message) => ({ ...message, ...saidIn(begun) }))],
    interrupts: resumed
      ? closed.interrupts
      : closed.interrupts.filter(({ interrupt_id }) => answers && !payload.answers.includes(interrupt_id)),
    // A run that answers goes on with them; any other leaves what was asked behind.
    suspended: resumed || answers ? fold.suspended : [],
    checkpoints: [],
    usage: resumed ? usageSoFar(fold) : { ...NO_USAGE, model_calls: 0, cost_usd: null },
  };
}

/** What a run has used that broke off here: a model call that was cut short was made all the same, at an unknown cost. */
export function usageSoFar({ usage, openMessages }: ThreadFold): ThreadFold["usage"] {
  const cutShort = openMessages.filter(({ synthetic }) => !synthetic).length;
  return cutShort === 0 ? usage : { ...usage, model_calls: usage.model_calls + cutShort };
}

/** The run's own sum, which is right whatever was counted on the way. */
function runUsage({
  model: _,
  calls: __,
  complete,
  ...sum
}: EnvelopeOf<"usage">["payload"]): ThreadFold["usage"] {
  return { ...sum, ...(complete !== undefined && { complete }) };
}

function startStep(fold: ThreadFold, { call_id, payload, parent_id }: EnvelopeOf<"step_start">): ThreadFold {
  if (fold.openSteps.some((step) => step.call_id === call_id)) return fold;
  const owner = fold.openSubagents.find((open) => open.call_id === parent_id);
  const parent = stepOf(fold, parent_id) ?? stepOf(fold, owner ? nodeOf(owner) : null);
  const base = parent ? `${parent.base}/${payload.node}` : payload.node;
  const subagent = owner?.call_id ?? parent?.subagent_id ?? null;
  const step: OpenStep = { call_id, base, name: uniqueName(base, fold.openSteps), subagent_id: subagent };
  return { ...fold, openSteps: [...fold.openSteps, step] };
}

/** Of several subagents that one node runs, each has the node's call and its tool's as its own. */
function nodeOf({ call_id, tool_call_id }: OpenSubagent): string {
  return tool_call_id !== null && call_id.endsWith(`|${tool_call_id}`)
    ? call_id.slice(0, -tool_call_id.length - 1)
    : call_id;
}

function uniqueName(base: string, open: readonly OpenStep[]): string {
  const taken = new Set(open.map((step) => step.name));
  if (!taken.has(base)) return base;
  for (let twin = 2; ; twin += 1) if (!taken.has(`${base}#${twin}`)) return `${base}#${twin}`;
}

function startMessage(fold: ThreadFold, { call_id, payload }: EnvelopeOf<"llm_start">): ThreadFold {
  if (fold.openMessages.some((message) => message.message_id === payload.message_id)) return fold;
  const known = fold.messages.find((message) => message.id === payload.message_id);
  const message: OpenMessage = {
    call_id,
    message_id: payload.message_id,
    subagent_id: payload.subagent_id ?? null,
    synthetic: payload.synthetic ?? false,
    placed: known !== undefined && !known.bare,
    ...openContent(known?.content ?? ""),
    text_open: false,
    reasoning: known?.reasoning ?? "",
    reasoning_open: false,
    tool_calls: (known?.tool_calls ?? []).map((call, index) => ({
      ...call,
      index: -1 - index,
      closed: true,
    })),
  };
  const messages = known?.bare ? fold.messages.filter((other) => other !== known) : fold.messages;
  return withOpenMessages(fold, [...fold.openMessages, message], messages);
}

/**
 * The message that a token continues. One whose beginning is in no log any more begins with the first token that is known of
 * it, if it is certain to be of the conversation: below a subgraph it may be a subagent's. `undefined` for a message that is
 * complete: a checkpoint held it before the log told its end.
 */
export function continuedMessage(fold: ThreadFold, token: EnvelopeOf<"llm_token">): OpenMessage | undefined {
  const { message_id } = token.payload;
  const open = fold.openMessages.find((message) => message.message_id === message_id);
  if (open) return open;
  const isNested = token.parent_id?.includes("|") ?? false;
  if (!fold.run?.open || isNested || isKnownMessage(fold, message_id)) return undefined;
  return {
    call_id: token.call_id,
    message_id,
    subagent_id: null,
    synthetic: false,
    placed: false,
    text: "",
    text_open: false,
    reasoning: "",
    reasoning_open: false,
    tool_calls: [],
  };
}

function addToken(fold: ThreadFold, token: EnvelopeOf<"llm_token">): ThreadFold {
  const { payload } = token;
  const open = continuedMessage(fold, token);
  if (!open) return fold;
  const index = fold.openMessages.indexOf(open);
  const next = withToken(open, payload);
  const openMessages = fold.openMessages.slice();
  openMessages[index === -1 ? openMessages.length : index] = next;
  if (!next.placed || open.placed) return withOpenMessages(fold, openMessages, fold.messages);
  const message: FoldMessage = {
    id: open.message_id,
    role: "assistant",
    content: "",
    ...saidBy(open.subagent_id, fold),
    ...saidIn(fold),
  };
  return withOpenMessages(fold, openMessages, [...fold.messages, message]);
}

// The two literals below are spelled out because a spread with overrides costs several times as much, once per entry.

function withOpenMessages(
  fold: ThreadFold,
  openMessages: readonly OpenMessage[],
  messages: readonly FoldMessage[],
): ThreadFold {
  return {
    run: fold.run,
    state: fold.state,
    messages,
    openSteps: fold.openSteps,
    openMessages,
    openSubagents: fold.openSubagents,
    interrupts: fold.interrupts,
    suspended: fold.suspended,
    checkpoints: fold.checkpoints,
    usage: fold.usage,
    checkpoint_id: fold.checkpoint_id,
    runs: fold.runs,
    calls: fold.calls,
    ...(fold.earlier_runs !== undefined && { earlier_runs: fold.earlier_runs }),
  };
}

function withToken(open: OpenMessage, payload: EnvelopeOf<"llm_token">["payload"]): OpenMessage {
  const { text, part, reasoning, tool_call } = payload;
  const calls = tool_call ? withCall(open.tool_calls, tool_call) : open.tool_calls;
  const next: OpenMessage = {
    call_id: open.call_id,
    message_id: open.message_id,
    subagent_id: open.subagent_id,
    synthetic: open.synthetic,
    placed: open.placed || text !== undefined || part !== undefined || calls.length > 0,
    text: text === undefined ? open.text : open.text + text,
    text_open: open.text_open || text !== undefined || part !== undefined,
    reasoning: reasoning === undefined ? open.reasoning : open.reasoning + reasoning,
    reasoning_open: reasoning !== undefined,
    tool_calls: calls,
  };
  if (part === undefined) return open.media ? { ...next, media: open.media } : next;
  return { ...next, media: [...(open.media ?? []), { at: open.text.length, part }] };
}

function withCall(
  calls: readonly OpenToolCall[],
  part: NonNullable<EnvelopeOf<"llm_token">["payload"]["tool_call"]>,
): readonly OpenToolCall[] {
  const args = part.args ?? "";
  if (part.id === undefined)
    return calls.map((call) => (call.index === part.index ? { ...call, args: call.args + args } : call));
  if (calls.some((call) => call.id === part.id)) return calls;
  return [...calls, { index: part.index, id: part.id, name: part.name ?? "tool", args, closed: false }];
}

function endMessage(fold: ThreadFold, { payload }: EnvelopeOf<"llm_end">): ThreadFold {
  const open = fold.openMessages.find((message) => message.message_id === payload.message_id);
  if (!open) return fold;
  const usage = payload.usage ? addUsage(fold.usage, payload.usage) : fold.usage;
  return {
    ...closeMessage(fold, open),
    usage: { ...fold.usage, ...usage, model_calls: fold.usage.model_calls + (open.synthetic ? 0 : 1) },
  };
}

function closeMessage(fold: ThreadFold, open: OpenMessage): ThreadFold {
  const openMessages = fold.openMessages.filter((message) => message !== open);
  if (!open.placed) {
    if (open.reasoning === "") return { ...fold, openMessages };
    const thought: FoldMessage = { id: open.message_id, role: "assistant", content: "", bare: true };
    const owner = saidBy(open.subagent_id, fold);
    return {
      ...fold,
      openMessages,
      messages: [...fold.messages, closedMessage({ ...thought, ...owner, ...saidIn(fold) }, open)],
    };
  }
  const messages = fold.messages.map((message) =>
    message.id === open.message_id ? closedMessage(message, open) : message,
  );
  return { ...fold, openMessages, messages };
}

function startSubagent(
  fold: ThreadFold,
  { call_id, parent_id, payload }: EnvelopeOf<"tool_start">,
): ThreadFold {
  if (payload.kind !== "subgraph") return fold;
  const suspended = without(fold.suspended, call_id);
  const awake = suspended === fold.suspended ? fold : { ...fold, suspended };
  const isKnown = fold.openSubagents.some((subagent) => subagent.call_id === call_id);
  if (payload.subagent_id === undefined || isKnown) return awake;
  const subagent: OpenSubagent = {
    call_id,
    name: payload.tool_name,
    tool_call_id: payload.tool_call_id ?? null,
    parent_id: (stepOf(fold, call_id) ?? stepOf(fold, parent_id))?.subagent_id ?? null,
  };
  return { ...awake, openSubagents: [...fold.openSubagents, subagent] };
}

function stepOf({ openSteps }: ThreadFold, callId: string | null): OpenStep | undefined {
  return openSteps.find((step) => step.call_id === callId);
}

function endTool(fold: ThreadFold, { call_id, payload }: EnvelopeOf<"tool_end">): ThreadFold {
  if (payload.kind === "subgraph") {
    return {
      ...fold,
      suspended: afterSubgraph(fold, call_id, payload.status),
      openSubagents: fold.openSubagents.filter((open) => open.call_id !== call_id),
    };
  }
  const place = placeOfResult(fold, call_id, payload);
  if (!place) return fold;
  return {
    ...fold,
    messages: [...fold.messages.slice(0, place.at), place.message, ...fold.messages.slice(place.at)],
  };
}

function takeSnapshot(fold: ThreadFold, { payload }: EnvelopeOf<"state_snapshot">): ThreadFold {
  return {
    ...fold,
    state: payload.state ?? fold.state,
    messages: messagesAfter(fold, payload),
    checkpoint_id: payload.checkpoint_id ?? fold.checkpoint_id,
  };
}

function messagesAfter(fold: ThreadFold, payload: PayloadOf<"state_snapshot">): readonly FoldMessage[] {
  const messages = payload.messages ? withTruth(fold, payload.messages) : fold.messages;
  return payload.changed_messages ? withChanged({ ...fold, messages }, payload.changed_messages) : messages;
}

function retract(fold: ThreadFold, { payload }: EnvelopeOf<"retract">): ThreadFold {
  const gone = new Set(payload.message_ids);
  const calls = new Set(payload.call_ids);
  const closing = fold.openMessages.filter((open) => gone.has(open.message_id) || calls.has(open.call_id));
  const closed = closing.reduce(closeMessage, fold);
  return {
    ...closed,
    messages: closed.messages.flatMap((message) => (gone.has(message.id) ? withdrawn(message) : [message])),
    openSteps: fold.openSteps.filter((open) => !calls.has(open.call_id)),
    openSubagents: fold.openSubagents.filter((open) => !calls.has(open.call_id)),
  };
}

/** What a run leaves once nothing of it is open. */
export function closeAll(fold: ThreadFold): ThreadFold {
  const closed = fold.openMessages.reduce(closeMessage, fold);
  return { ...closed, openSteps: [], openSubagents: [] };
}
