import {
  addUsage,
  type Envelope,
  type EnvelopeOf,
  type LogEntry,
  NO_USAGE,
  type PayloadOf,
} from "@throughline/ai-core";
import { applyPatch } from "../delta/apply-patch.js";
import { updateCallTree } from "./calls.js";
import { trimSideMessages } from "./keep-beside.js";
import { reconcileMessages, toolResultPosition, withChanged, withdrawn } from "./message-list.js";
import { PREDICT_STATE, withPredictions } from "./predictions.js";
import { afterSubgraph, stillSuspended, withCheckpoint, without } from "./suspended.js";
import {
  closedMessage,
  type OpenMessage,
  type OpenStep,
  type OpenSubagent,
  type OpenToolCall,
  openContent,
  type ProjectedMessage,
  type ProjectedRun,
  runTag,
  subagentTag,
  type ThreadProjection,
} from "./thread-fold.js";

/** Applies one entry to a projection. Pure; shares all that did not change. A token costs O(open items), never O(history). */
export function applyEntry(projection: ThreadProjection, entry: LogEntry): ThreadProjection {
  return applyEnvelope(projection, entry.envelope);
}

export function isKnownMessage(projection: ThreadProjection, messageId: string): boolean {
  return projection.messages.some((message) => message.id === messageId);
}

export function applyEnvelope(projection: ThreadProjection, envelope: Envelope): ThreadProjection {
  const next = applyContent(projection, envelope);
  const change = updateCallTree(projection, envelope);
  if (!change) return next;
  const { runs, calls, earlier_runs } = change;
  return { ...next, runs, calls, ...(earlier_runs !== undefined && { earlier_runs }) };
}

function applyContent(projection: ThreadProjection, envelope: Envelope): ThreadProjection {
  switch (envelope.type) {
    case "run_start":
      return startRun(projection, envelope);
    case "run_end": {
      // Interrupts that a failed or stopped run did not resolve stay open.
      const interrupts = envelope.payload.status === "success" ? [] : projection.interrupts;
      return {
        ...closeAll(projection),
        run: projection.run && endedRun(projection.run, envelope.payload),
        interrupts,
        suspended: stillSuspended(projection.suspended, interrupts),
        checkpoints: [],
      };
    }
    case "step_start":
      return startStep(projection, envelope);
    case "step_end":
      return {
        ...projection,
        openSteps: projection.openSteps.filter((step) => step.call_id !== envelope.call_id),
      };
    case "llm_start":
      return startMessage(projection, envelope);
    case "llm_token":
      return addToken(projection, envelope);
    case "llm_end":
      return endMessage(projection, envelope);
    case "tool_start":
      return startSubagent(projection, envelope);
    case "tool_end":
      return endTool(projection, envelope);
    case "state_snapshot":
      return applySnapshot(projection, envelope);
    case "state_delta":
      return { ...projection, state: applyPatch(projection.state, envelope.payload.ops) ?? projection.state };
    case "interrupt":
      return {
        ...projection,
        interrupts: [...projection.interrupts.filter(isNot(envelope.payload.interrupt_id)), envelope.payload],
      };
    case "usage":
      return { ...projection, usage: runUsage(envelope.payload) };
    case "retract":
      return retract(projection, envelope);
    case "subgraph_checkpoint":
      return withCheckpoint(projection, envelope.call_id, envelope.payload.checkpoint_id);
    case "custom": {
      const { name, value } = envelope.payload;
      return name === PREDICT_STATE ? withPredictions(projection, value) : projection;
    }
    case "tool_update":
    case "subgraph_resume":
    case "warning":
    case "error":
      return projection;
  }
}

const isNot = (id: string) => (interrupt: { readonly interrupt_id: string }) => interrupt.interrupt_id !== id;

function endedRun(run: ProjectedRun, { status, error }: PayloadOf<"run_end">): ProjectedRun {
  return { ...run, open: false, status, ...(error && { error }) };
}

function startRun(
  projection: ThreadProjection,
  { run_id, attempt, payload }: EnvelopeOf<"run_start">,
): ThreadProjection {
  const closed = closeAll(projection);
  const resumed = projection.run?.run_id === run_id;
  const run: ProjectedRun = {
    run_id,
    client_run_id: payload.client_run_id ?? null,
    attempt,
    open: true,
    status: null,
    ...(payload.coarse && { coarse: true }),
  };
  const known = new Set(projection.messages.map((message) => message.id));
  const retained = resumed ? closed.messages : trimSideMessages(closed.messages);
  const added = payload.input.messages.filter((message) => !known.has(message.id));
  const begun = { ...closed, run };
  const responds = payload.answers.length > 0;
  return {
    ...begun,
    messages: [...retained, ...added.map((message) => ({ ...message, ...runTag(begun) }))],
    interrupts: resumed
      ? closed.interrupts
      : closed.interrupts.filter(({ interrupt_id }) => responds && !payload.answers.includes(interrupt_id)),
    // A run with interrupt responses continues the suspended subgraphs; any other abandons them.
    suspended: resumed || responds ? projection.suspended : [],
    checkpoints: [],
    usage: resumed ? usageSoFar(projection) : { ...NO_USAGE, model_calls: 0, cost_usd: null },
  };
}

/** The usage of a run that stops here. Counts model calls that were cut short: they were made, at an unknown cost. */
export function usageSoFar({ usage, openMessages }: ThreadProjection): ThreadProjection["usage"] {
  const cutShort = openMessages.filter(({ synthetic }) => !synthetic).length;
  return cutShort === 0 ? usage : { ...usage, model_calls: usage.model_calls + cutShort };
}

/** The run's own sum of usage, which is right whatever was counted before. */
function runUsage({
  model: _,
  calls: __,
  complete,
  ...sum
}: EnvelopeOf<"usage">["payload"]): ThreadProjection["usage"] {
  return { ...sum, ...(complete !== undefined && { complete }) };
}

function startStep(
  projection: ThreadProjection,
  { call_id, payload, parent_id }: EnvelopeOf<"step_start">,
): ThreadProjection {
  if (projection.openSteps.some((step) => step.call_id === call_id)) return projection;
  const owner = projection.openSubagents.find((open) => open.call_id === parent_id);
  const parent = stepOf(projection, parent_id) ?? stepOf(projection, owner ? nodeOf(owner) : null);
  const base = parent ? `${parent.base}/${payload.node}` : payload.node;
  const subagent = owner?.call_id ?? parent?.subagent_id ?? null;
  const step: OpenStep = {
    call_id,
    base,
    name: uniqueName(base, projection.openSteps),
    subagent_id: subagent,
  };
  return { ...projection, openSteps: [...projection.openSteps, step] };
}

/** The node's call of a subagent. Where one node runs several, each subagent's call id is that of the node and its tool call. */
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

function startMessage(
  projection: ThreadProjection,
  { call_id, payload }: EnvelopeOf<"llm_start">,
): ThreadProjection {
  if (projection.openMessages.some((message) => message.message_id === payload.message_id)) return projection;
  const known = projection.messages.find((message) => message.id === payload.message_id);
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
  const messages = known?.bare ? projection.messages.filter((other) => other !== known) : projection.messages;
  return withOpenMessages(projection, [...projection.openMessages, message], messages);
}

/**
 * The message that a token continues. A message whose start was trimmed from the log starts with its first known token, if
 * it is certain to be of the conversation: below a subgraph it may be a subagent's. `undefined` for a complete message: a
 * checkpoint held it before its end was logged.
 */
export function continuedMessage(
  projection: ThreadProjection,
  token: EnvelopeOf<"llm_token">,
): OpenMessage | undefined {
  const { message_id } = token.payload;
  const open = projection.openMessages.find((message) => message.message_id === message_id);
  if (open) return open;
  const isNested = token.parent_id?.includes("|") ?? false;
  if (!projection.run?.open || isNested || isKnownMessage(projection, message_id)) return undefined;
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

function addToken(projection: ThreadProjection, token: EnvelopeOf<"llm_token">): ThreadProjection {
  const { payload } = token;
  const open = continuedMessage(projection, token);
  if (!open) return projection;
  const index = projection.openMessages.indexOf(open);
  const next = withToken(open, payload);
  const openMessages = projection.openMessages.slice();
  openMessages[index === -1 ? openMessages.length : index] = next;
  if (!next.placed || open.placed) return withOpenMessages(projection, openMessages, projection.messages);
  const message: ProjectedMessage = {
    id: open.message_id,
    role: "assistant",
    content: "",
    ...subagentTag(open.subagent_id, projection),
    ...runTag(projection),
  };
  return withOpenMessages(projection, openMessages, [...projection.messages, message]);
}

// The two literals below list all properties because a spread with overrides costs several times as much, once per entry.

function withOpenMessages(
  projection: ThreadProjection,
  openMessages: readonly OpenMessage[],
  messages: readonly ProjectedMessage[],
): ThreadProjection {
  return {
    run: projection.run,
    state: projection.state,
    messages,
    openSteps: projection.openSteps,
    openMessages,
    openSubagents: projection.openSubagents,
    interrupts: projection.interrupts,
    suspended: projection.suspended,
    checkpoints: projection.checkpoints,
    usage: projection.usage,
    checkpoint_id: projection.checkpoint_id,
    runs: projection.runs,
    calls: projection.calls,
    ...(projection.earlier_runs !== undefined && { earlier_runs: projection.earlier_runs }),
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

function endMessage(projection: ThreadProjection, { payload }: EnvelopeOf<"llm_end">): ThreadProjection {
  const open = projection.openMessages.find((message) => message.message_id === payload.message_id);
  if (!open) return projection;
  const usage = payload.usage ? addUsage(projection.usage, payload.usage) : projection.usage;
  return {
    ...closeMessage(projection, open),
    usage: {
      ...projection.usage,
      ...usage,
      model_calls: projection.usage.model_calls + (open.synthetic ? 0 : 1),
    },
  };
}

function closeMessage(projection: ThreadProjection, open: OpenMessage): ThreadProjection {
  const openMessages = projection.openMessages.filter((message) => message !== open);
  if (!open.placed) {
    if (open.reasoning === "") return { ...projection, openMessages };
    const thought: ProjectedMessage = { id: open.message_id, role: "assistant", content: "", bare: true };
    const owner = subagentTag(open.subagent_id, projection);
    return {
      ...projection,
      openMessages,
      messages: [
        ...projection.messages,
        closedMessage({ ...thought, ...owner, ...runTag(projection) }, open),
      ],
    };
  }
  const messages = projection.messages.map((message) =>
    message.id === open.message_id ? closedMessage(message, open) : message,
  );
  return { ...projection, openMessages, messages };
}

function startSubagent(
  projection: ThreadProjection,
  { call_id, parent_id, payload }: EnvelopeOf<"tool_start">,
): ThreadProjection {
  if (payload.kind !== "subgraph") return projection;
  const suspended = without(projection.suspended, call_id);
  const awake = suspended === projection.suspended ? projection : { ...projection, suspended };
  const isKnown = projection.openSubagents.some((subagent) => subagent.call_id === call_id);
  if (payload.subagent_id === undefined || isKnown) return awake;
  const subagent: OpenSubagent = {
    call_id,
    name: payload.tool_name,
    tool_call_id: payload.tool_call_id ?? null,
    parent_id: (stepOf(projection, call_id) ?? stepOf(projection, parent_id))?.subagent_id ?? null,
  };
  return { ...awake, openSubagents: [...projection.openSubagents, subagent] };
}

function stepOf({ openSteps }: ThreadProjection, callId: string | null): OpenStep | undefined {
  return openSteps.find((step) => step.call_id === callId);
}

function endTool(
  projection: ThreadProjection,
  { call_id, payload }: EnvelopeOf<"tool_end">,
): ThreadProjection {
  if (payload.kind === "subgraph") {
    return {
      ...projection,
      suspended: afterSubgraph(projection, call_id, payload.status),
      openSubagents: projection.openSubagents.filter((open) => open.call_id !== call_id),
    };
  }
  const position = toolResultPosition(projection, call_id, payload);
  if (!position) return projection;
  return {
    ...projection,
    messages: [
      ...projection.messages.slice(0, position.at),
      position.message,
      ...projection.messages.slice(position.at),
    ],
  };
}

function applySnapshot(
  projection: ThreadProjection,
  { payload }: EnvelopeOf<"state_snapshot">,
): ThreadProjection {
  return {
    ...projection,
    state: payload.state ?? projection.state,
    messages: messagesAfter(projection, payload),
    checkpoint_id: payload.checkpoint_id ?? projection.checkpoint_id,
  };
}

function messagesAfter(
  projection: ThreadProjection,
  payload: PayloadOf<"state_snapshot">,
): readonly ProjectedMessage[] {
  const messages = payload.messages ? reconcileMessages(projection, payload.messages) : projection.messages;
  return payload.changed_messages
    ? withChanged({ ...projection, messages }, payload.changed_messages)
    : messages;
}

function retract(projection: ThreadProjection, { payload }: EnvelopeOf<"retract">): ThreadProjection {
  const gone = new Set(payload.message_ids);
  const calls = new Set(payload.call_ids);
  const closing = projection.openMessages.filter(
    (open) => gone.has(open.message_id) || calls.has(open.call_id),
  );
  const closed = closing.reduce(closeMessage, projection);
  return {
    ...closed,
    messages: closed.messages.flatMap((message) => (gone.has(message.id) ? withdrawn(message) : [message])),
    openSteps: projection.openSteps.filter((open) => !calls.has(open.call_id)),
    openSubagents: projection.openSubagents.filter((open) => !calls.has(open.call_id)),
  };
}

/** Closes everything that a run has open. */
export function closeAll(projection: ThreadProjection): ThreadProjection {
  const closed = projection.openMessages.reduce(closeMessage, projection);
  return { ...closed, openSteps: [], openSubagents: [] };
}
