import type {
  Dialect,
  Envelope,
  GraphDescriptor,
  GraphFinal,
  PayloadOf,
  Profile,
  UpstreamChunk,
} from "@throughline/ai-core";
import { applyEnvelope, emptyFold, type ThreadFold, usageSoFar } from "@throughline/reading";
import { reconcile } from "../fold/reconcile.js";
import { createSampler, type Sampler } from "../sample/sampler.js";
import type { Draft } from "./draft.js";
import type { StateKeys } from "./state-tracker.js";
import { createStreamAdapter } from "./stream-adapter.js";

export interface RunTranslatorOptions {
  readonly context: {
    readonly runId: string;
    readonly threadId: string;
    readonly traceId: string;
    readonly attempt: number;
    readonly agent: string;
    /** `replay` marks what an upstream tells a second time. */
    readonly origin?: "live" | "replay";
  };
  readonly dialect: Dialect;
  readonly profile: Profile;
  /** What the thread's log holds so far. */
  readonly fold?: ThreadFold;
  /** Keys of the graph's output schema. */
  readonly stateKeys?: StateKeys;
  /** Keys of its subgraphs' final states, where the graph publishes them. */
  readonly subgraphs?: GraphDescriptor["subgraphs"];
  /** Tell a graph's own errors, which may carry a key, a prompt or a path. Default: in the `debug` profile. */
  readonly showErrors?: boolean;
  /** Only for measuring: the `debug` profile is how a person turns sampling off. */
  readonly sampling?: false | { readonly maxWindowMs?: number };
}

/** One run's way from upstream chunks to envelopes ready for the log. Time is an argument: call `flush` by `nextFlushAt`. */
export interface RunTranslator {
  start(payload: PayloadOf<"run_start">, nowMs: number): Envelope[];
  push(chunk: UpstreamChunk, nowMs: number): Envelope[];
  flush(nowMs: number): Envelope[];
  nextFlushAt(): number | undefined;
  /** The rest of the run. `fold` is what the log holds once all that was returned so far is in it. */
  finish(final: GraphFinal, fold: ThreadFold, nowMs: number): Envelope[];
}

export function createRunTranslator(options: RunTranslatorOptions): RunTranslator {
  const { context, dialect, profile, stateKeys } = options;
  const before = options.fold ?? emptyFold;
  const sampler: Sampler =
    options.sampling === false
      ? createSampler("debug")
      : createSampler(profile, options.sampling?.maxWindowMs);
  const known = once(() => new Set(before.messages.map(({ id }) => id)));
  const calls = once(
    () =>
      new Map(before.messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id, args }) => [id, args]))),
  );
  const adapter = createStreamAdapter({
    runId: context.runId,
    agent: context.agent,
    dialect,
    before: {
      state: before.state,
      isKnownMessage: (id) => known().has(id),
      callArgs: (id) => calls().get(id),
      suspended: new Map(before.suspended.map(({ call_id, checkpoint_id }) => [call_id, checkpoint_id])),
      // An earlier attempt of this run: what it used was used.
      usage: before.run?.run_id === context.runId ? usageSoFar(before) : undefined,
    },
    stateKeys,
    subgraphs: options.subgraphs,
    extend: sampler.extend,
    showErrors: options.showErrors ?? profile === "debug",
  });
  const counters = new Map<string, number>();

  const { runId, threadId, traceId, attempt, origin = "live" } = context;

  function stamp(drafts: readonly Draft[], nowMs: number): Envelope[] {
    const ts = nowMs / 1_000;
    return drafts.map(({ type, payload, call_id, parent_id, agent }) => {
      const seq = (counters.get(call_id) ?? 0) + 1;
      counters.set(call_id, seq);
      // Spelled out rather than spread: this is half of what an entry costs.
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
    start: (payload, nowMs) => stamp(adapter.start(payload), nowMs),
    push: (chunk, nowMs) =>
      adapter.pushText(chunk, nowMs) ? [] : stamp(sampler.push(adapter.push(chunk), nowMs), nowMs),
    flush: (nowMs) => stamp(sampler.flush(nowMs), nowMs),
    nextFlushAt: () => sampler.nextFlushAt(),
    finish(final, fold, nowMs) {
      const closing = stamp([...sampler.push(adapter.close(final), nowMs), ...sampler.drain()], nowMs);
      const truth = reconcile(closing.reduce(applyEnvelope, fold), final, stateKeys);
      return [...closing, ...stamp(adapter.end(final, truth), nowMs)];
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
