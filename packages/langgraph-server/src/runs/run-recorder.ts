import {
  type Clock,
  type Envelope,
  type GraphDescriptor,
  type GraphFinal,
  type PayloadOf,
  ThroughlineError,
  type Timer,
  type UpstreamChunk,
} from "@throughline/ai-core";
import { billUsage, type ItemizedBill } from "@throughline/billing";
import { applyEntry, type ThreadProjection } from "@throughline/reading";
import { createStreamAdapter, type StateKeys } from "@throughline/stream-adapter";
import type { Finish, RunRecord } from "@throughline/thread-log";
import type { RunRequest } from "../threads/run-spec.js";
import type { AppendQueue } from "./append-queue.js";

/** Messages and calls that are retracted when the attempt begins. */
export interface Retraction {
  readonly messageIds: readonly string[];
  /**
   * R27, `taken_over`: an earlier attempt showed them and never committed them. `went_back`: they come after the
   * checkpoint that the run rewinds to.
   */
  readonly reason: "taken_over" | "went_back";
}

export interface RunRecorderOptions {
  readonly run: RunRecord;
  readonly request: RunRequest;
  readonly clock: Clock;
  readonly queue: AppendQueue;
  /** The projection of the log before the first envelope of this attempt. */
  readonly fold: ThreadProjection;
  readonly withdrawal: Retraction;
  /** Keys of the graph's output schema. */
  readonly stateKeys: StateKeys | undefined;
  /** Keys of its subgraphs' final states, where the graph publishes them. */
  readonly subgraphs: GraphDescriptor["subgraphs"];
  /** Whether a graph's own errors are shown to people. */
  readonly showErrors: boolean;
  readonly bounds: RunBounds;
  readonly onEnvelope: (envelope: Envelope) => void;
  /** The run wrote more than it may: nothing more of it is recorded but its end. Called once. */
  readonly onExcess: (error: ThroughlineError) => void;
}

/** Writes one attempt's upstream chunks to the log, on time: tokens that the sampler holds back are written when due. */
export interface RunRecorder {
  start(payload: PayloadOf<"run_start">): void;
  /** R31, P6: an external run and a recovered one also bring what they had streamed before, marked as replayed. */
  chunk(chunk: UpstreamChunk): void;
  /** Records a warning for people who see the thread. */
  warn(warning: PayloadOf<"warning">): void;
  /** Nothing is recorded after it. `bill`: returns the run's metered cost, if any, from its counts. */
  finish(
    final: GraphFinal,
    end: Finish,
    bill: (counted: PayloadOf<"usage">) => Promise<ItemizedBill | undefined>,
  ): Promise<void>;
  /** Nothing is recorded any more. */
  close(): void;
}

export function createRunRecorder(options: RunRecorderOptions): RunRecorder {
  const { run, request, clock, queue } = options;
  const { messageIds: withdrawn, reason } = options.withdrawal;
  const { runId, thread, attempt } = run;
  const context = {
    runId,
    threadId: thread.threadId,
    traceId: request.caller.traceId,
    attempt,
    agent: run.graphId,
  };
  const translator = createStreamAdapter({
    context,
    dialect: request.dialect ?? "modes",
    profile: request.profile,
    showErrors: options.showErrors || request.profile === "debug",
    // A retracted message may be streamed again under its old id: then it is new all the same.
    fold: { ...options.fold, messages: options.fold.messages.filter(({ id }) => !withdrawn.includes(id)) },
    ...(options.stateKeys && { stateKeys: options.stateKeys }),
    ...(options.subgraphs && { subgraphs: options.subgraphs }),
  });
  let fold = options.fold;
  let timer: Timer | undefined;
  let timerDue = Number.POSITIVE_INFINITY;
  let closed = false;
  let isFull = false;
  let isCoarse = false;
  let warnings = 0;
  const excessOf = createRunMeter(options.bounds);
  let origin: Envelope["origin"] = "live";

  function record(translated: readonly Envelope[]): void {
    const envelopes =
      origin === "live" ? translated : translated.map((envelope) => ({ ...envelope, origin }));
    for (const envelope of envelopes) {
      fold = applyEntry(fold, { epoch: "", seq: 0, envelope });
      options.onEnvelope(envelope);
    }
    queue.push(envelopes);
  }

  function recordWithinBounds(envelopes: readonly Envelope[]): void {
    record(envelopes);
    const excess = excessOf(envelopes);
    if (!excess || isFull) return;
    isFull = true;
    options.onExcess(excess);
  }

  function arm(): void {
    const due = translator.nextFlushAt();
    if (due === undefined || due >= timerDue) return;
    timer?.cancel();
    timerDue = due;
    timer = clock.schedule(Math.max(0, due - clock.now()), () => {
      timerDue = Number.POSITIVE_INFINITY;
      if (closed || isFull) return;
      recordWithinBounds(translator.flush(clock.now()));
      arm();
    });
  }

  /** The base of an envelope that no upstream sent. */
  function own(kind: string, seq: number) {
    return {
      ts: clock.now() / 1_000,
      trace_id: context.traceId,
      run_id: runId,
      thread_id: context.threadId,
      attempt,
      parent_id: runId,
      call_id: `${runId}/${kind}`,
      seq,
      origin: "live" as const,
      agent: context.agent,
    };
  }

  function retraction(): Envelope {
    const payload = { message_ids: [...withdrawn], call_ids: [], reason };
    return { type: "retract", ...own("retract", 1), payload };
  }

  function close(): void {
    closed = true;
    timer?.cancel();
  }

  return {
    start(payload) {
      isCoarse = payload.coarse ?? false;
      const isBack = reason === "went_back" && withdrawn.length > 0;
      const begun = translator.start(
        isBack ? { ...payload, went_back: [...withdrawn] } : payload,
        clock.now(),
      );
      record([...begun, ...(withdrawn.length > 0 ? [retraction()] : [])]);
    },
    chunk(chunk) {
      if (closed || isFull) return;
      origin = chunk.origin ?? "live";
      recordWithinBounds(translator.push(chunk, clock.now()));
      arm();
    },
    warn(payload) {
      if (closed || isFull) return;
      warnings += 1;
      record([{ type: "warning", ...own("warning", warnings), payload }]);
    },
    async finish(final, end, bill) {
      if (closed) return;
      close();
      origin = "live";
      const ending: Envelope[] = [];
      for (const envelope of translator.finish(final, fold, clock.now())) {
        const billed = envelope.type === "usage" ? await bill(envelope.payload) : undefined;
        const shown = billed ? withBill(envelope, billed) : envelope;
        ending.push(isCoarse ? asCoarse(shown) : shown);
      }
      ending.forEach(options.onEnvelope);
      queue.finish(ending, end);
    },
    close,
  };
}

function withBill(envelope: Envelope, bill: ItemizedBill): Envelope {
  return envelope.type === "usage" ? { ...envelope, payload: billUsage(envelope.payload, bill) } : envelope;
}

/** R31: marks both ends of a run that had no live stream. */
function asCoarse(envelope: Envelope): Envelope {
  return envelope.type === "run_end"
    ? { ...envelope, payload: { ...envelope.payload, coarse: true } }
    : envelope;
}

export interface RunBounds {
  readonly maxEventsPerRun: number;
  readonly maxBytesPerRun: number;
}

/** Approximate size of an envelope without its payload: ids, names and times. */
const ENVELOPE_BYTES = 400;

/**
 * Counts an attempt's output; returns the error that ends it once a limit is exceeded. Bytes are close, not exact: to
 * encode every envelope a second time for the sake of counting would be half of what it costs.
 */
export function createRunMeter(
  bounds: RunBounds,
): (envelopes: readonly Envelope[]) => ThroughlineError | undefined {
  let events = 0;
  let bytes = 0;
  return (envelopes) => {
    events += envelopes.length;
    for (const envelope of envelopes) bytes += ENVELOPE_BYTES + payloadBytes(envelope);
    if (events > bounds.maxEventsPerRun) {
      return exceeded("maxEventsPerRun", bounds.maxEventsPerRun, "events");
    }
    if (bytes > bounds.maxBytesPerRun) return exceeded("maxBytesPerRun", bounds.maxBytesPerRun, "bytes");
    return undefined;
  };
}

function payloadBytes(envelope: Envelope): number {
  if (envelope.type !== "llm_token") return Buffer.byteLength(JSON.stringify(envelope.payload));
  const { text = "", reasoning = "", tool_call } = envelope.payload;
  return Buffer.byteLength(text) + Buffer.byteLength(reasoning) + Buffer.byteLength(tool_call?.args ?? "");
}

function exceeded(limit: keyof RunBounds, max: number, what: string): ThroughlineError {
  return new ThroughlineError(
    "too_large",
    `${limit}: the run wrote more than ${max} ${what} and was stopped. Ask for less in one run.`,
    { details: { limit, max } },
  );
}
