import {
  addUsage,
  type Dialect,
  type GraphDescriptor,
  type GraphFinal,
  type Interrupt,
  type JsonObject,
  NO_USAGE,
  type PayloadOf,
  type RunStatus,
  type TokenUsage,
  type UpstreamChunk,
} from "@throughline/ai-core";
import { asLoose } from "@throughline/coerce";
import type { Reconciliation } from "../fold/reconcile.js";
import type { Sampler } from "../sample/sampler.js";
import { createCheckpointMessages } from "./checkpoint-messages.js";
import { createCustomEvents } from "./custom-events.js";
import { type CallSite, createDraftSink, type Draft } from "./draft.js";
import { createEventsDialect } from "./events-dialect.js";
import { createInterruptSet } from "./interrupt-set.js";
import { createMessageStream } from "./message-stream.js";
import { createModesDialect } from "./modes-dialect.js";
import { createRunFailure } from "./run-failure.js";
import type { RunParts } from "./run-parts.js";
import { createSharedModes } from "./shared-modes.js";
import { trackShownMessages } from "./shown-messages.js";
import { createStateTracker, type StateKeys } from "./state-tracker.js";
import { createSubgraphStates } from "./subgraph-result.js";
import { createTaskTree } from "./task-tree.js";
import { createToolRuns } from "./tool-runs.js";

export interface StreamAdapterOptions {
  readonly runId: string;
  readonly agent: string;
  readonly dialect: Dialect;
  /** What the thread showed before this run. */
  readonly before: {
    readonly state: JsonObject;
    readonly isKnownMessage: (messageId: string) => boolean;
    /** The arguments of a call that an earlier run asked for; `undefined` for a call the thread does not hold. */
    readonly callArgs: (toolCallId: string) => string | undefined;
    readonly suspended: ReadonlyMap<string, string | null>;
    /** Of attempts before this one. */
    readonly usage: (TokenUsage & { readonly model_calls: number }) | undefined;
  };
  /** Keys of its subgraphs' final states, where the graph publishes them. */
  readonly subgraphs: GraphDescriptor["subgraphs"];
  readonly stateKeys: StateKeys | undefined;
  /** Takes a piece of an open message's text by the short way. `false`: it must go the long one. */
  readonly extend: Sampler["extend"];
  /** Tell a graph's own errors. */
  readonly showErrors: boolean;
}

/** Coercion, mapping, completion and ids (the sampler owns backpressure). One per run; makes well-formed runs of any input. */
export interface StreamAdapter {
  start(payload: PayloadOf<"run_start">): Draft[];
  push(chunk: UpstreamChunk): Draft[];
  /**
   * The short way of what nearly all chunks are: more text of a message that is open, which its window can wait with. `false`
   * for a chunk that must be pushed.
   */
  pushText(chunk: UpstreamChunk, nowMs: number): boolean;
  /** Closes what is open and tells what the run came to. `snapshot` goes between the last content and the end. */
  close(final: GraphFinal): Draft[];
  end(final: GraphFinal, truth: Reconciliation): Draft[];
}

export function createStreamAdapter(options: StreamAdapterOptions): StreamAdapter {
  const { runId, agent, dialect, before, stateKeys } = options;
  const { sink, shown } = trackShownMessages(createDraftSink(), before.isKnownMessage);
  const root: CallSite = { callId: runId, parentId: null, agent };
  const tools = createToolRuns({
    sink,
    root,
    isKnown: before.isKnownMessage,
    knownArgs: before.callArgs,
  });
  const messages = createMessageStream({ sink, root, tools, isKnown: before.isKnownMessage });
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
  const state = createStateTracker({ sink, root, initial: before.state, stateKeys });
  const interrupts = createInterruptSet();
  const custom = createCustomEvents({ sink, state, tools });
  const conversation = createCheckpointMessages({ sink, root, shown, messages, tools });
  const parts: RunParts = {
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
  const inDialect = dialect === "modes" ? createModesDialect(parts) : createEventsDialect(parts);
  const inBoth = createSharedModes(parts);

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
        // Nothing an upstream sends may end a run: what can't be read is named and passed over.
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
        const chunk = Array.isArray(data) ? asLoose(data[0]) : undefined;
        const message = chunk && messages.continuedBy(chunk);
        const text = String(chunk?.content);
        if (!message || !options.extend(message.site, message.id, text, nowMs)) return false;
        if (message.text !== undefined) message.text += text;
        return true;
      } catch {
        // Left to `push`, which says what can't be read.
        return false;
      }
    },
    close(final) {
      for (const interrupt of final.interrupts) interrupts.addKnown(interrupt);
      // A run that failed or was stopped leaves open what it did not answer, and only the checkpoint knows that.
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
      // What a failed node had open fails with it; what others had is cancelled.
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
