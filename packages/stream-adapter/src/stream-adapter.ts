import {
  addUsage,
  type Dialect,
  type Envelope,
  type GraphDescriptor,
  type GraphFinal,
  type Interrupt,
  type JsonObject,
  NO_USAGE,
  type PayloadOf,
  type Profile,
  type RunStatus,
  type TokenUsage,
  type UpstreamChunk,
} from "@throughline/ai-core";
import { asRecord } from "@throughline/coerce";
import {
  applyEnvelope,
  emptyThreadProjection,
  type ThreadProjection,
  usageSoFar,
} from "@throughline/reading";
import { type Reconciliation, reconcile } from "./checkpoint/rebuild.js";
import { type CallSite, createDraftBuffer, type EnvelopeDraft } from "./envelope-draft.js";
import { createEventSampler, type EventSampler } from "./event-sampler.js";
import { createCheckpointMessages, trackShownMessages } from "./translate/checkpoint-messages.js";
import { createCustomEvents } from "./translate/custom-events.js";
import { translateEvents } from "./translate/events.js";
import { createRunFailure } from "./translate/failure.js";
import { createInterruptSet } from "./translate/interrupt-set.js";
import { createModelMessages } from "./translate/model-messages.js";
import { translateModes, translateShared } from "./translate/modes.js";
import { createStateChanges, type StateKeys } from "./translate/state.js";
import { createSubgraphStates } from "./translate/subgraph-result.js";
import { createTaskTree } from "./translate/task-tree.js";
import { createToolCalls } from "./translate/tool-calls.js";
import type { Translators } from "./translate/translator.js";

export interface StreamAdapterOptions {
  readonly context: {
    readonly runId: string;
    readonly threadId: string;
    readonly traceId: string;
    readonly attempt: number;
    readonly agent: string;
    /** `replay` marks chunks that an upstream sends a second time. */
    readonly origin?: "live" | "replay";
  };
  readonly dialect: Dialect;
  readonly profile: Profile;
  /** The projection of the thread's log so far. */
  readonly fold?: ThreadProjection;
  /** Keys of the graph's output schema. */
  readonly stateKeys?: StateKeys;
  /** Keys of its subgraphs' final states, where the graph publishes them. */
  readonly subgraphs?: GraphDescriptor["subgraphs"];
  /** Whether to emit a graph's own errors, which may carry a key, a prompt or a path. Default: in the `debug` profile. */
  readonly showErrors?: boolean;
  /** Only for measuring: the `debug` profile is how a person turns sampling off. */
  readonly sampling?: false | { readonly maxWindowMs?: number };
}

/** Translates the upstream chunks of one run to envelopes ready for the log. Time is an argument: call `flush` by `nextFlushAt`. */
export interface StreamAdapter {
  start(payload: PayloadOf<"run_start">, nowMs: number): Envelope[];
  push(chunk: UpstreamChunk, nowMs: number): Envelope[];
  flush(nowMs: number): Envelope[];
  nextFlushAt(): number | undefined;
  /** Returns the rest of the run. `projection` must include all envelopes returned so far. */
  finish(final: GraphFinal, projection: ThreadProjection, nowMs: number): Envelope[];
}

export function createStreamAdapter(options: StreamAdapterOptions): StreamAdapter {
  const { context, dialect, profile, stateKeys } = options;
  const before = options.fold ?? emptyThreadProjection;
  const sampler: EventSampler =
    options.sampling === false
      ? createEventSampler("debug")
      : createEventSampler(profile, options.sampling?.maxWindowMs);
  const known = once(() => new Set(before.messages.map(({ id }) => id)));
  const calls = once(
    () =>
      new Map(before.messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id, args }) => [id, args]))),
  );
  const translator = createChunkTranslator({
    runId: context.runId,
    agent: context.agent,
    dialect,
    before: {
      state: before.state,
      isKnownMessage: (id) => known().has(id),
      callArgs: (id) => calls().get(id),
      suspended: new Map(before.suspended.map(({ call_id, checkpoint_id }) => [call_id, checkpoint_id])),
      // The usage of an earlier attempt of this run counts, too.
      usage: before.run?.run_id === context.runId ? usageSoFar(before) : undefined,
    },
    stateKeys,
    subgraphs: options.subgraphs,
    extend: sampler.extend,
    showErrors: options.showErrors ?? profile === "debug",
  });
  const counters = new Map<string, number>();

  const { runId, threadId, traceId, attempt, origin = "live" } = context;

  function stamp(drafts: readonly EnvelopeDraft[], nowMs: number): Envelope[] {
    const ts = nowMs / 1_000;
    return drafts.map(({ type, payload, call_id, parent_id, agent }) => {
      const seq = (counters.get(call_id) ?? 0) + 1;
      counters.set(call_id, seq);
      // A literal rather than a spread: this is half of an entry's cost.
      const envelope = {
        type,
        ts,
        trace_id: traceId,
        run_id: runId,
        thread_id: threadId,
        attempt,
        parent_id,
        call_id,
        seq,
        origin,
        agent,
        payload,
      };
      return envelope as Envelope;
    });
  }

  return {
    start: (payload, nowMs) => stamp(translator.start(payload), nowMs),
    push: (chunk, nowMs) =>
      translator.pushText(chunk, nowMs) ? [] : stamp(sampler.push(translator.push(chunk), nowMs), nowMs),
    flush: (nowMs) => stamp(sampler.flush(nowMs), nowMs),
    nextFlushAt: () => sampler.nextFlushAt(),
    finish(final, projection, nowMs) {
      const closing = stamp([...sampler.push(translator.close(final), nowMs), ...sampler.drain()], nowMs);
      const truth = reconcile(closing.reduce(applyEnvelope, projection), final, stateKeys);
      return [...closing, ...stamp(translator.end(final, truth), nowMs)];
    },
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

export interface ChunkTranslatorOptions {
  readonly runId: string;
  readonly agent: string;
  readonly dialect: Dialect;
  /** The thread's projection before this run. */
  readonly before: {
    readonly state: JsonObject;
    readonly isKnownMessage: (messageId: string) => boolean;
    /** The arguments of a tool call of an earlier run; `undefined` for a call the thread does not hold. */
    readonly callArgs: (toolCallId: string) => string | undefined;
    readonly suspended: ReadonlyMap<string, string | null>;
    /** The usage of attempts before this one. */
    readonly usage: (TokenUsage & { readonly model_calls: number }) | undefined;
  };
  /** Keys of its subgraphs' final states, where the graph publishes them. */
  readonly subgraphs: GraphDescriptor["subgraphs"];
  readonly stateKeys: StateKeys | undefined;
  /** The fast path for more text of an open message. `false`: the chunk must be pushed. */
  readonly extend: EventSampler["extend"];
  /** Whether to emit a graph's own errors. */
  readonly showErrors: boolean;
}

/** Translates chunks to drafts: coercion, mapping, completion and ids. One per run; makes well-formed runs of any input. */
export interface ChunkTranslator {
  start(payload: PayloadOf<"run_start">): EnvelopeDraft[];
  push(chunk: UpstreamChunk): EnvelopeDraft[];
  /**
   * The fast path for nearly all chunks: more text of an open message, which waits in the message's window. `false` for a
   * chunk that must be pushed.
   */
  pushText(chunk: UpstreamChunk, nowMs: number): boolean;
  /** Closes open items and emits interrupts and the failure. The snapshot goes between the last content and the end. */
  close(final: GraphFinal): EnvelopeDraft[];
  end(final: GraphFinal, truth: Reconciliation): EnvelopeDraft[];
}

function createChunkTranslator(options: ChunkTranslatorOptions): ChunkTranslator {
  const { runId, agent, dialect, before, stateKeys } = options;
  const { sink, shown } = trackShownMessages(createDraftBuffer(), before.isKnownMessage);
  const root: CallSite = { callId: runId, parentId: null, agent };
  const tools = createToolCalls({
    sink,
    root,
    isKnown: before.isKnownMessage,
    knownArgs: before.callArgs,
  });
  const messages = createModelMessages({ sink, root, tools, isKnown: before.isKnownMessage });
  const tasks = createTaskTree({
    sink,
    root,
    suspended: before.suspended,
    runningTool: tools.running,
    beforeEnd(task, status) {
      messages.endTask(task, status);
      tools.endTask(task, status);
    },
    states: createSubgraphStates(options.subgraphs),
  });
  const failure = createRunFailure({ sink, root, tasks, showErrors: options.showErrors });
  const state = createStateChanges({ sink, root, initial: before.state, stateKeys });
  const interrupts = createInterruptSet();
  const custom = createCustomEvents({ sink, state, tools });
  const conversation = createCheckpointMessages({ sink, root, shown, messages, tools });
  const translators: Translators = {
    sink,
    root,
    tasks,
    messages,
    conversation,
    tools,
    state,
    interrupts,
    custom,
    failure,
  };
  const inDialect = dialect === "modes" ? translateModes(translators) : translateEvents(translators);
  const inBoth = translateShared(translators);

  return {
    start(payload) {
      sink.emit("run_start", root, payload);
      return sink.take();
    },
    push(chunk) {
      try {
        inDialect(chunk);
        inBoth(chunk);
      } catch {
        // No chunk of an upstream may end a run: an unreadable one is reported and skipped.
        sink.emit("warning", root, {
          code: "unreadable_chunk",
          message: `A chunk of mode ${chunk.mode} could not be read and was passed over.`,
        });
      }
      return sink.take();
    },
    pushText({ mode, data }, nowMs) {
      if (dialect !== "modes" || (mode !== "messages" && mode !== "messages-tuple")) return false;
      try {
        const chunk = Array.isArray(data) ? asRecord(data[0]) : undefined;
        const message = chunk && messages.continuedBy(chunk);
        const text = String(chunk?.content);
        if (!message || !options.extend(message.site, message.id, text, nowMs)) return false;
        if (message.text !== undefined) message.text += text;
        return true;
      } catch {
        // Left to `push`, which reports unreadable chunks.
        return false;
      }
    },
    close(final) {
      for (const interrupt of final.interrupts) interrupts.addKnown(interrupt);
      // A run that failed or was stopped leaves unresolved interrupts open, and only the checkpoint has them.
      const pending: readonly Interrupt[] =
        final.status === "interrupted"
          ? interrupts.all()
          : final.status === "success"
            ? []
            : final.interrupts;
      const status = CALL_STATUS_AT_END[final.status];
      for (const interrupt of pending) {
        const path = interrupt.ns.join("|");
        sink.emit("interrupt", { callId: path || runId, parentId: path ? runId : null, agent }, interrupt);
      }
      const failed = failure.report(final.error, final.status === "error");
      // Open items of a failed node fail with it; those of others are cancelled.
      if (!failed) messages.endAll(status);
      tasks.endAll(status, failed);
      messages.endAll(failed ? "cancelled" : status);
      tools.endAll(failed ? "cancelled" : status);
      return sink.take();
    },
    end(final, { withdrawn, snapshot }) {
      if (withdrawn.length > 0)
        sink.emit("retract", root, { message_ids: [...withdrawn], call_ids: [], reason: "not_committed" });
      if (snapshot) sink.emit("state_snapshot", root, snapshot);
      const { total, modelCalls, model } = messages.usage();
      sink.emit("usage", root, {
        ...addUsage(total, before.usage ?? NO_USAGE),
        model,
        model_calls: modelCalls + (before.usage?.model_calls ?? 0),
        cost_usd: null,
      });
      sink.emit("run_end", root, {
        status: final.status,
        ...(final.status === "error" && { error: failure.ending(final.error) }),
      });
      return sink.take();
    },
  };
}

const CALL_STATUS_AT_END = {
  success: "ok",
  interrupted: "interrupted",
  cancelled: "cancelled",
  error: "error",
} as const satisfies Record<RunStatus, string>;
