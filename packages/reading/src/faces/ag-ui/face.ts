import type { Envelope, EnvelopeOf, JsonObject, LogEntry, PayloadOf } from "@throughline/ai-core";
import { updateCallTree } from "../../fold/calls.js";
import { applyEnvelope, closeAll, continuedMessage } from "../../fold/fold.js";
import { callsByRun } from "../../fold/fold-call.js";
import { trimSideMessages } from "../../fold/keep-beside.js";
import { toolResultPosition } from "../../fold/message-list.js";
import type { OpenMessage, ProjectedRun, ThreadProjection } from "../../fold/thread-fold.js";
import { contentText, type FileUrl, wordsOf } from "../media-words.js";
import { callsEvent } from "./calls-event.js";
import type { AgUiEvent, AgUiFrame, AgUiVersion, InterruptForm } from "./event.js";
import { encodeFrameCursor } from "./frame-cursor.js";
import { announces, legacyInterrupt, resumeOf } from "./interrupts.js";
import { FAILED, showsSubagents, snapshotMessages, toAgUiMessage } from "./messages.js";
import { createOpenItems } from "./open-items.js";
import { reopenItems } from "./still-open.js";
import { idleRunEnd, terminal } from "./terminal.js";

export interface AgUiEncoderOptions {
  /** The client's name of the thread. */
  readonly threadName: string;
  readonly line: AgUiVersion;
  readonly interrupts: InterruptForm;
  /** Whether to emit runs, nodes, model and tool calls as a tree, and each message's run. Default `false`. */
  readonly calls?: boolean;
  /** Maps attachments to URLs that clients can fetch; else messages have their internal URLs, which only our own clients know. */
  readonly fileUrl?: FileUrl | undefined;
}

/**
 * R4: encodes log entries as AG-UI frames. Stateless: all it needs of the past is the projection, so it can start at any
 * position of the log and emits there what it would have emitted without a break.
 */
export interface AgUiEncoder {
  /** Identifies these options in cursors. */
  readonly key: string;
  /** The frames of one entry, given the projection before it. */
  frames(before: ThreadProjection, entry: LogEntry): AgUiFrame[];
  /** R11: the frames that bring a new subscriber up to date. Ends the run it opened if none is active. */
  fullSnapshot(
    projection: ThreadProjection,
    at: { readonly epoch: string; readonly seq: number } | undefined,
  ): AgUiFrame[];
  /** R12: for a subscriber that has all up to frame `n` of this entry: the events to repeat, and the remaining frames. */
  resume(
    before: ThreadProjection,
    entry: LogEntry,
    n: number,
  ): { readonly prelude: AgUiFrame[]; readonly rest: AgUiFrame[] };
}

export function createAgUiEncoder(options: AgUiEncoderOptions): AgUiEncoder {
  const { threadName, line, interrupts, calls = false, fileUrl } = options;
  const key = `${line === "1.0" ? "1" : "0"}${interrupts.charAt(0)}${calls ? "c" : ""}`;
  const items = createOpenItems(line);
  const form = announces(interrupts);

  function runStarted(run: ProjectedRun, input?: JsonObject): AgUiEvent {
    return {
      type: "RUN_STARTED",
      threadId: threadName,
      runId: run.client_run_id ?? run.run_id,
      ...(input && { input }),
      metadata: { throughline: { runId: run.run_id, attempt: run.attempt } },
    };
  }

  function read(before: ThreadProjection, envelope: Envelope): AgUiEvent[] {
    switch (envelope.type) {
      case "run_start":
        return startRun(before, envelope);
      case "run_end":
        return [
          ...items.ends(before, envelope.payload.status),
          terminal(before, envelope.payload, { threadName, line, interrupts }),
        ];
      case "step_start":
        return startedSince(before, envelope, "openSteps").map(items.startStep);
      case "step_end":
        return before.openSteps.filter((step) => step.call_id === envelope.call_id).map(items.endStep);
      case "llm_start":
        return [];
      case "llm_token":
        return token(before, envelope);
      case "llm_end":
        return before.openMessages
          .filter((message) => message.message_id === envelope.payload.message_id)
          .flatMap((message) => items.endMessage(message, before));
      case "tool_start":
        return envelope.payload.kind === "subgraph"
          ? startedSince(before, envelope, "openSubagents").flatMap((open) =>
              items.startSubagent(open, before),
            )
          : subagentEvent(before, envelope, envelope.payload.subagent_id);
      case "tool_end":
        return endTool(before, envelope);
      case "state_snapshot":
        return snapshot(before, envelope);
      case "state_delta":
        return [{ type: "STATE_DELTA", delta: envelope.payload.ops }];
      case "interrupt":
        return form.legacy ? [legacyInterrupt(envelope.payload)] : [];
      case "retract":
        return retract(before, envelope);
      case "custom":
        return [{ type: "CUSTOM", name: envelope.payload.name, value: envelope.payload.value }];
      case "tool_update":
        return [
          {
            type: "CUSTOM",
            name: "throughline.tool_update",
            value: {
              toolCallId: envelope.call_id,
              toolName: envelope.payload.tool_name,
              data: envelope.payload.data,
            },
          },
        ];
      case "warning":
        return [{ type: "CUSTOM", name: "throughline.warning", value: { ...envelope.payload } }];
      case "error":
        return [errorEvent(envelope.payload)];
      case "usage":
      case "subgraph_checkpoint":
      case "subgraph_resume":
        return [];
    }
  }

  function startRun(before: ThreadProjection, envelope: EnvelopeOf<"run_start">): AgUiEvent[] {
    const { run } = before;
    const closing = run?.open ? items.ends(before, "error") : [];
    // R27: recovered after a crash, it is the same run to subscribers.
    if (run?.open && run.run_id === envelope.run_id) return closing;
    const lost: AgUiEvent[] = run?.open
      ? [...closing, terminal(before, { status: "error", error: RUN_LOST }, { threadName, line, interrupts })]
      : [];
    const { payload } = envelope;
    const started: ProjectedRun = {
      run_id: envelope.run_id,
      client_run_id: payload.client_run_id ?? null,
      attempt: envelope.attempt,
      open: true,
      status: null,
    };
    // R14: user messages are sent here, where clients dedupe them by id, and so are interrupt responses.
    const resume = resumeOf(payload.given, form);
    const input: JsonObject = {
      threadId: threadName,
      runId: payload.client_run_id ?? envelope.run_id,
      state: {},
      messages: payload.input.messages.map((message) => toAgUiMessage(message, fileUrl)),
      tools: [],
      context: [],
      forwardedProps: {},
      ...resume,
    };
    return [
      ...lost,
      runStarted(started, payload.input.messages.length > 0 || resume ? input : undefined),
      ...trimmedMessages(before),
    ];
  }

  /** A new run drops old side messages: clients that have them get a snapshot without. */
  function trimmedMessages(before: ThreadProjection): AgUiEvent[] {
    const closed = closeAll(before);
    const messages = trimSideMessages(closed.messages);
    return messages === closed.messages ? [] : messagesSnapshot(closed, { ...closed, messages });
  }

  function token(before: ThreadProjection, envelope: EnvelopeOf<"llm_token">): AgUiEvent[] {
    const { payload } = envelope;
    const open = continuedMessage(before, envelope);
    if (!open) return [];
    if (!items.isShown(open, before)) return subagentEvent(before, envelope, open.subagent_id ?? undefined);
    const tag = items.owner(open.subagent_id, before);
    const messageId = open.message_id;
    if (payload.reasoning !== undefined) {
      return [
        ...(open.reasoning_open ? [] : items.startReasoning(open, before)),
        {
          type: "REASONING_MESSAGE_CONTENT",
          messageId: `${messageId}/reasoning`,
          delta: payload.reasoning,
          ...tag,
        },
      ];
    }
    const reasoned = open.reasoning_open ? items.endReasoning(open, before) : [];
    const delta = wordsOf(payload, fileUrl);
    if (delta !== undefined) {
      const content: AgUiEvent = { type: "TEXT_MESSAGE_CONTENT", messageId, delta, ...tag };
      if (open.text_open) return reasoned.length === 0 ? [content] : [...reasoned, content];
      return [...reasoned, { type: "TEXT_MESSAGE_START", messageId, role: "assistant", ...tag }, content];
    }
    return [...reasoned, ...toolCallToken(open, payload.tool_call, tag)];
  }

  function toolCallToken(
    open: OpenMessage,
    part: EnvelopeOf<"llm_token">["payload"]["tool_call"],
    tag: { subagentRunId?: string },
  ): AgUiEvent[] {
    if (!part) return [];
    const args = part.args ?? "";
    const known = open.tool_calls.find((call) =>
      part.id === undefined ? call.index === part.index : call.id === part.id,
    );
    const toolCallId = known?.id ?? part.id;
    if (toolCallId === undefined || (known && part.id !== undefined)) return [];
    const events: AgUiEvent[] = [];
    if (!known) {
      events.push({
        type: "TOOL_CALL_START",
        toolCallId,
        toolCallName: part.name ?? "tool",
        parentMessageId: open.message_id,
        ...tag,
      });
    }
    if (args !== "") events.push({ type: "TOOL_CALL_ARGS", toolCallId, delta: args, ...tag });
    return events;
  }

  function endTool(before: ThreadProjection, envelope: EnvelopeOf<"tool_end">): AgUiEvent[] {
    if (envelope.payload.kind === "subgraph") {
      return before.openSubagents
        .filter((subagent) => subagent.call_id === envelope.call_id)
        .flatMap((subagent) => items.endSubagent(subagent, envelope.payload.status, before));
    }
    const message = toolResultPosition(before, envelope.call_id, envelope.payload)?.message;
    if (!message) return [];
    const subagentId = message.subagent_id ?? null;
    if (!items.isShown({ subagent_id: subagentId }, before))
      return subagentEvent(before, envelope, message.subagent_id);
    return [
      {
        type: "TOOL_CALL_RESULT",
        messageId: message.id,
        toolCallId: envelope.call_id,
        content: contentText(message.content, fileUrl),
        role: "tool",
        ...items.owner(subagentId, before),
        ...(message.status === "error" && { metadata: FAILED }),
      },
    ];
  }

  /** Work inside a subagent, for a protocol version without fields for it: one custom event per entry, never a message. */
  function subagentEvent(
    before: ThreadProjection,
    envelope: EnvelopeOf<"llm_token"> | EnvelopeOf<"tool_start"> | EnvelopeOf<"tool_end">,
    subagentId: string | undefined,
  ): AgUiEvent[] {
    if (subagentId === undefined || showsSubagents(before, line)) return [];
    const value: JsonObject = {
      type: envelope.type,
      subagentId,
      callId: envelope.call_id,
      agent: envelope.agent,
    };
    if (envelope.type === "llm_token") {
      const { reasoning } = envelope.payload;
      const text = wordsOf(envelope.payload, fileUrl);
      if (text === undefined && reasoning === undefined) return [];
      if (text !== undefined) value.text = text;
      if (reasoning !== undefined) value.reasoning = reasoning;
    } else value.toolName = envelope.payload.tool_name;
    return [{ type: "CUSTOM", name: "throughline.subagent", value }];
  }

  function snapshot(before: ThreadProjection, envelope: EnvelopeOf<"state_snapshot">): AgUiEvent[] {
    const events: AgUiEvent[] = [];
    if (envelope.payload.state) events.push({ type: "STATE_SNAPSHOT", snapshot: envelope.payload.state });
    if (envelope.payload.messages || envelope.payload.changed_messages)
      events.push(...messagesSnapshot(before, applyEnvelope(before, envelope)));
    return events;
  }

  /** Clients merge by id and retain their own order; where ours differs, only an empty list first makes them adopt it. */
  function messagesSnapshot(before: ThreadProjection, after: ThreadProjection): AgUiEvent[] {
    const messages = snapshotMessages(after, options);
    const held = new Set(orderedIds(snapshotMessages(before, { line })));
    const wanted = new Set(orderedIds(messages));
    const merged = [
      ...[...held].filter((id) => wanted.has(id)),
      ...[...wanted].filter((id) => !held.has(id)),
    ];
    const inOrder = [...wanted].every((id, index) => id === merged[index]);
    return [
      ...(inOrder ? [] : [{ type: "MESSAGES_SNAPSHOT" as const, messages: [] }]),
      { type: "MESSAGES_SNAPSHOT", messages },
    ];
  }

  function retract(before: ThreadProjection, envelope: EnvelopeOf<"retract">): AgUiEvent[] {
    const after = applyEnvelope(before, envelope);
    const closing = {
      ...before,
      openMessages: before.openMessages.filter((open) => !after.openMessages.includes(open)),
      openSteps: before.openSteps.filter((open) => !after.openSteps.includes(open)),
      openSubagents: before.openSubagents.filter((open) => !after.openSubagents.includes(open)),
    };
    const gone = new Set(envelope.payload.message_ids);
    const changed =
      before.messages.some(({ id }) => gone.has(id)) ||
      before.openMessages.some((open) => gone.has(open.message_id));
    return [...items.ends(closing, "error"), ...(changed ? messagesSnapshot(before, after) : [])];
  }

  /** Adds the change of the call tree, after a run's start and before its end: no event may be outside. */
  function withCalls(before: ThreadProjection, envelope: Envelope, events: AgUiEvent[]): AgUiEvent[] {
    const change = updateCallTree(before, envelope);
    if (!change || change.changed.length + change.gone.length === 0) return events;
    const earlierRuns = change.earlier_runs === before.earlier_runs ? undefined : change.earlier_runs;
    const treeChange = callsEvent({ whole: false, calls: change.changed, gone: change.gone, earlierRuns });
    return envelope.type === "run_start" ? [...events, treeChange] : [treeChange, ...events];
  }

  /** R16: what changes while no run is open is wrapped in a run of its own. */
  function wrappedInRun(before: ThreadProjection, envelope: Envelope): AgUiEvent[] {
    const events = calls ? withCalls(before, envelope, read(before, envelope)) : read(before, envelope);
    if (events.length === 0 || before.run?.open || envelope.type === "run_start") return events;
    if (envelope.type === "run_end") return [];
    const run = syntheticRun(`${envelope.run_id}/${envelope.call_id}/${envelope.seq}`);
    return [
      runStarted(run),
      ...events,
      terminal({ ...before, run, interrupts: [] }, { status: "success" }, { threadName, line, interrupts }),
    ];
  }

  const number = (
    events: readonly AgUiEvent[],
    { epoch, seq }: { epoch: string; seq: number },
  ): AgUiFrame[] =>
    events.map((event, n) => ({ id: encodeFrameCursor({ epoch, seq, n, face: key }), event }));

  function openRun(projection: ThreadProjection): AgUiEvent[] {
    return projection.run?.open ? [runStarted(projection.run), ...items.starts(projection)] : [];
  }

  return {
    key,
    frames: (before, entry) => number(wrappedInRun(before, entry.envelope), entry),
    fullSnapshot(projection, at) {
      const run = projection.run ?? syntheticRun("empty");
      const events: AgUiEvent[] = [
        runStarted(run),
        { type: "STATE_SNAPSHOT", snapshot: projection.state },
        { type: "MESSAGES_SNAPSHOT", messages: snapshotMessages(projection, options) },
        ...(calls
          ? [callsEvent({ whole: true, calls: callsByRun(projection), earlierRuns: projection.earlier_runs })]
          : []),
      ];
      if (projection.run?.open) events.push(...items.starts(projection));
      else {
        if (form.legacy) events.push(...projection.interrupts.map(legacyInterrupt));
        events.push(idleRunEnd({ ...projection, run }, { threadName, line, interrupts }));
      }
      const last = events.length - 1;
      // The whole entry `seq` is in the projection: a client that reconnects with this cursor must skip all of its frames.
      const id = at && encodeFrameCursor({ ...at, n: WHOLE_ENTRY, face: key });
      return events.map((event, index) => (index === last && id !== undefined ? { id, event } : { event }));
    },
    resume(before, entry, n) {
      const frames = number(wrappedInRun(before, entry.envelope), entry);
      const sent = frames.slice(0, n + 1).map((frame) => frame.event);
      const prelude = reopenItems([...openRun(before), ...sent]).map((event) => ({ event }));
      return { prelude, rest: frames.slice(n + 1) };
    },
  };
}

/** Encodes an error without its stack, which is only for readers of the log. */
function errorEvent({ stack: _, ns, ...error }: PayloadOf<"error">): AgUiEvent {
  return { type: "CUSTOM", name: "throughline.error", value: { ...error, ...(ns && { ns }) } };
}

/** The `n` of a cursor after every frame that an entry could have. */
export const WHOLE_ENTRY = 999_999_999;

const RUN_LOST = { code: "run_lost", message: "The run was lost and could not be taken up again." } as const;

function syntheticRun(id: string): ProjectedRun {
  return { run_id: `throughline:${id}`, client_run_id: null, attempt: 0, open: true, status: null };
}

/** The ids of messages in order, without thoughts, whose order clients do not compare. */
function orderedIds(messages: readonly JsonObject[]): readonly string[] {
  return messages.flatMap(({ id, role }) => (typeof id === "string" && role !== "reasoning" ? [id] : []));
}

/** The items that an entry opened, taken from the projection, which alone decides names and owners. */
function startedSince<K extends "openSteps" | "openSubagents">(
  before: ThreadProjection,
  envelope: Envelope,
  kind: K,
): ThreadProjection[K][number][] {
  const after = applyEnvelope(before, envelope);
  return after[kind].slice(before[kind].length);
}
